//! Tests over real sockets.
