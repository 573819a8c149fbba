"""Web pages: folders, tar archives, WARC and WACZ files of them."""
