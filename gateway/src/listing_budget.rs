//! Bounds what a server lists, over all pages.

use rmcp::model::ErrorData;
use rmcp::service::ServiceError;
use serde::Serialize;

use crate::json_size::parsed_bytes;
use crate::transport::TOO_LARGE;

/// Items of one listing.
const MAX_ITEMS: usize = 10_000;
/// Bytes of the items of one listing, as JSON text.
const MAX_TEXT_BYTES: usize = 32 * 1024 * 1024;
/// Estimated bytes of the items of one listing, as parsed values.
const MAX_PARSED_BYTES: usize = 96 * 1024 * 1024;

/// How much of its limits a listing has used.
#[derive(Debug, Default)]
pub struct ListingBudget {
    items: usize,
    text_bytes: usize,
    parsed_bytes: usize,
    buffer: Vec<u8>,
}

impl ListingBudget {
    /// Counts an item.
    ///
    /// # Errors
    /// The listing is too large.
    pub fn count(&mut self, item: &impl Serialize) -> Result<(), ServiceError> {
        self.buffer.clear();
        // An item that cannot be serialized was not parsed from JSON, which does not happen.
        let _ = serde_json::to_writer(&mut self.buffer, item);
        self.items += 1;
        self.text_bytes += self.buffer.len();
        self.parsed_bytes += parsed_bytes(&self.buffer);
        let limit = if self.items > MAX_ITEMS {
            format!("{MAX_ITEMS} items")
        } else if self.text_bytes > MAX_TEXT_BYTES || self.parsed_bytes > MAX_PARSED_BYTES {
            format!("{} MiB", MAX_TEXT_BYTES >> 20)
        } else {
            return Ok(());
        };
        let message = format!("the server lists more than {limit}, the limit of one listing");
        Err(ServiceError::McpError(ErrorData::new(
            TOO_LARGE, message, None,
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn counted(item: &Value, most: usize) -> usize {
        let mut budget = ListingBudget::default();
        (0..most)
            .find(|_| budget.count(item).is_err())
            .unwrap_or(most)
    }

    #[test]
    fn items_text_and_values_are_bounded_in_sum() {
        assert_eq!(counted(&json!({ "name": "a" }), 20_000), MAX_ITEMS);
        assert_eq!(counted(&json!("x".repeat(1 << 20)), 100), 31);
        let objects: Vec<Value> = (0..10_000).map(|_| json!({})).collect();
        assert!(counted(&json!(objects), 100) < 60);
    }
}
