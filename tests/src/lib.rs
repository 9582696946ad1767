//! The conformance matrix of gridsync and the end-to-end tests of its program.
