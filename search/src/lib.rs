//! The right tool out of thousands: embedding, LanceDB index, ranking.
