"""What classes declare: the types of fields, tangents of their own, members of protocols that are written for them."""
