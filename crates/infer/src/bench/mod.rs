//! Figures of this room.
