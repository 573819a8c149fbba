"""The networks that sonde knows, described as a user would describe another one."""

from __future__ import annotations

MASTODON = """
name = "mastodon"

[windows.all]  # of an account, or of an address without a token; servers say their own
requests = 300
per = "5m"

[lookup]
url = "{server}/api/v1/accounts/lookup?acct={name}"
windows = ["all"]
id = "id"

[posts]
url = "{server}/api/v1/accounts/{id}/statuses?limit=40&exclude_reblogs=true"
windows = ["all"]
items = "[]"
id = "id"
link = "url"
text = "content"
html = true
author_id = "account.id"
author_name = "account.acct"
mentions = "mentions[]"
mention_id = "id"
mention_name = "acct"
next = { by = "link" }

[search]  # in posts, where the server and the token allow that
url = "{server}/api/v2/search?q={query}&type=statuses&limit=40"
windows = ["all"]
items = "statuses[]"
id = "id"
link = "url"
text = "content"
html = true
author_id = "account.id"
author_name = "account.acct"
mentions = "mentions[]"
mention_id = "id"
mention_name = "acct"
"""

BLUESKY = """
name = "bluesky"
server = "https://public.api.bsky.app"

[windows.all]  # of an address
requests = 3000
per = "5m"

[posts]
url = "{server}/xrpc/app.bsky.feed.getAuthorFeed?actor={id}&limit=100&filter=posts_with_replies"
windows = ["all"]
items = "feed[]"
id = "post.uri"
text = "post.record.text"
author_id = "post.author.did"
author_name = "post.author.handle"
mentions = "post.record.facets[].features[]"
mention_id = "did"
next = { by = "cursor", path = "cursor", parameter = "cursor" }

[search]
url = "{server}/xrpc/app.bsky.feed.searchPosts?q={query}&limit=100"
windows = ["all"]
items = "posts[]"
id = "uri"
text = "record.text"
author_id = "author.did"
author_name = "author.handle"
mentions = "record.facets[].features[]"
mention_id = "did"
next = { by = "cursor", path = "cursor", parameter = "cursor" }
"""
