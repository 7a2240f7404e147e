//! Sentences: plain text of Markdown, sentence boundaries, shortening to whole sentences.
