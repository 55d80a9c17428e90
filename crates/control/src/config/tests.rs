//! Tests of the configuration as a whole.

use super::*;
