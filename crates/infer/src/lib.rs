//! Text to vector, pair to relevance, prompt to text: local models and HTTP providers.
