"""A database behind a search form: nodes are keywords, what a search returns are records.

Nouns, in the order in which a visit meets them:

- a *form* (``form``): where a keyword is sent, by GET or POST, in which field, with which other
  fields. It is found on a page, or described.
- a *layout* (``layout``): which elements of a result page are records, what is a record's id,
  where the next page is. It is described, or learned from the first page that has enough records.
- *records*: an id and a text. β of a keyword is the number of records that it returned; α of a
  keyword that occurs in them is how often it does. Under the objective ``distinct``, which is the
  usual one here, a record counts once.
- *words* (``query_words``): what of a text can be a keyword. Stop words are not, and a word that
  stands in too large a share of all records seen (``census``) is *over-general*: its results are
  cut off by the form long before they say anything new.
- the *census* (``census``): which records were returned by how many keywords, and what that says
  about the size of the database (capture and recapture).

A visit sends the keyword, follows the pages of its results as far as it was told and as long as
they bring records that are new, and tells them with their words.

Invariants: the robots.txt of the site is asked first and heeded; requests to the site are as far
apart as the delay says; every request was granted before it left. Form, layout and robots.txt are
kept with the run; the census is read back from the records in the log.
"""

from sonde.sources.form.kind import Form

__all__ = ["Form"]
