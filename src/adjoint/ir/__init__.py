"""The intermediate representation: types, nodes, and what builds, prints, walks and checks them."""
