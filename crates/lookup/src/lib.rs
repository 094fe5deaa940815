//! Names and codes in, ranked values out: the engine under `search_filters`.
