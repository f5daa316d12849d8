"""The demo shop: products, orders, and the saga that carries an order through."""
