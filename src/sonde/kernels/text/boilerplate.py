"""What a site says on its pages again and again, learned page by page, and what is a page's own.

An ``Imprint`` is a page made ready: its words in *blocks* (the text between two boundaries of block
elements), each block with the *slot* that it stands in, which is the path of its elements by name
and class, and by those ids that many pages have. A ``Site`` counts blocks, the links of which a
menu consists, and runs of six words, on how many pages each stood (``LossyCounting``), and sums up
for each slot how many words stood there and how many of them were repeats. ``main`` says which
words of a page are main text; `docs/concepts/judging.md` has the definition. All of it is integers,
and a function of the pages in their order.
"""

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.sonde.kernels import byte
    from cython.cimports.sonde.kernels.html import scan
    from cython.cimports.sonde.kernels.text.lossy_counting import LossyCounting
else:
    from sonde.kernels import byte
    from sonde.kernels.html import scan
    from sonde.kernels.text.lossy_counting import LossyCounting

    RUN = 6  # words that are counted together
    LONGEST = 32  # words of a block whose runs are all counted; of a longer one the first and last
    WORDS = 0
    REPEATS = 1
    LINKED = 2
    CORES = 3
    ENTERED = 4
    STRONG = 5
    ECHO = 512  # of a block: it says what a heading says
    HEADINGS = 3  # of a page that are echoed

from sonde.kernels.text.tokens import plain, tokenise

KEYS = 16_384  # counted of a site after a page, and slots
SLOTS = 4_096
NEW_KEYS = 8_192  # that one page may bring
NEW_SLOTS = 2_048

# Salts: a block, a part of one, a run and an id are never the same key.
PART = cython.declare(cython.ulonglong, 0xA0761D6478BD642F)
RUNS = cython.declare(cython.ulonglong, 0xE7037ED1A0B428DB)
IDENT = cython.declare(cython.ulonglong, 0x8EBC6AF09C88C6E3)
KIND = cython.declare(cython.ulonglong, 0x1D8E4E27C47D124F)
LINKISH = cython.declare(cython.ulonglong, 0x589965CC75374CC3)


class Imprint:
    """A page's words, blocks, runs and elements, without the text."""

    def __init__(self, text: bytes, pieces, nodes) -> None:
        """`pieces` and `nodes` are those of ``html.scan``."""
        room: cython.Py_ssize_t = len(text) // 2 + 1  # two words have four bytes at the least
        numbers: cython.int[:, ::1] = np.empty((6, room), dtype=np.intc)
        keys: cython.ulonglong[:, ::1] = np.empty((3, room), dtype=np.uint64)
        flags: cython.uchar[:, ::1] = np.empty((2, room), dtype=np.uint8)
        self.size = len(text)
        self.start, self.block, self.part = numbers[0], numbers[1], numbers[2]
        self.piece, self.part_block, self.run_at = numbers[3], numbers[4], numbers[5]
        self.number, self.link = flags[0], flags[1]
        if cython.compiled:
            self.word, self.part_key, self.run_key = keys[0], keys[1], keys[2]
        else:
            self.word, self.part_key, self.run_key = map(plain, keys)
        self.words = tokenise(text, self.start, self.word, self.number)
        self.make_room(pieces.shape[0], nodes.shape[0])
        self.read(plain(pieces), plain(nodes))

    def make_room(self, pieces, nodes):
        """For blocks, of which there are no more than pieces, and for nodes."""
        room: cython.Py_ssize_t = min(self.words, pieces + 1) + 1
        numbers: cython.int[:, ::1] = np.empty((5, room), dtype=np.intc)
        self.first, self.begin, self.node = numbers[0], numbers[1], numbers[2]
        self.flags, self.linked = numbers[3], numbers[4]
        keys: cython.ulonglong[:, ::1] = np.empty((2, room), dtype=np.uint64)
        if cython.compiled:
            self.key, self.said = keys[0], keys[1]
        else:
            self.key, self.said = map(plain, keys)
        self.nodes = nodes
        numbers = np.empty((2, nodes), dtype=np.intc)
        self.parent, self.marks = numbers[0], numbers[1]
        keys = np.empty((3, nodes), dtype=np.uint64)
        if cython.compiled:
            self.kind, self.ident, self.path = keys[0], keys[1], keys[2]
        else:
            self.kind, self.ident, self.path = map(plain, keys)

    def read(self, pieces, nodes):
        words: cython.Py_ssize_t = self.words
        keys = self.word
        path = self.path
        i: cython.Py_ssize_t
        above: cython.ulonglong
        for i in range(self.nodes):
            self.parent[i] = cython.cast(cython.int, nodes[i, 0]) - 1
            self.kind[i] = nodes[i, 1]
            self.ident[i] = byte.mixed(nodes[i, 2] ^ IDENT) if nodes[i, 2] else 0
            self.marks[i] = cython.cast(cython.int, nodes[i, 3])
            above = path[self.parent[i]] if self.parent[i] >= 0 else 0
            path[i] = byte.mixed(((above * byte.GOLDEN) & byte.MASK) ^ self.kind[i])

        word: cython.Py_ssize_t
        block: cython.Py_ssize_t = -1
        piece: cython.Py_ssize_t = -1
        begins: cython.bint = True
        begin: cython.int = 0
        piece_of = self.piece
        for word in range(words):
            while piece + 1 < pieces.shape[0] and pieces[piece + 1, 0] <= self.start[word]:
                piece += 1
                if pieces[piece, 1] & scan.BEGINS:
                    begins = True
                    begin = pieces[piece, 0]
            if begins:
                begins = False
                block += 1
                self.first[block] = cython.cast(cython.int, word)
                self.begin[block] = begin
                self.flags[block] = pieces[piece, 1] if piece >= 0 else 0
                self.node[block] = pieces[piece, 2] - 1 if piece >= 0 else -1
                self.linked[block] = 0
            self.block[word] = cython.cast(cython.int, block)
            self.part[word] = -1
            piece_of[word] = cython.cast(cython.int, piece)
            self.link[word] = 1 if piece >= 0 and pieces[piece, 1] & scan.LINK else 0
            self.linked[block] += self.link[word]
        self.blocks = block + 1
        self.first[self.blocks] = cython.cast(cython.int, words)

        key: cython.ulonglong
        where: cython.ulonglong
        linkish: cython.bint
        stop: cython.Py_ssize_t
        parts: cython.Py_ssize_t = 0
        part_key = self.part_key
        part_block = self.part_block
        runs: cython.Py_ssize_t = 0
        run_key = self.run_key
        run_at = self.run_at
        for block in range(self.blocks):
            word = self.first[block]
            stop = self.first[block + 1]
            linkish = self.is_linkish(block)
            where = path[self.node[block]] if self.node[block] >= 0 else 0
            if linkish:
                where ^= LINKISH
            key = byte.FNV_START
            for i in range(word, stop):
                key = byte.hashed(key, keys[i])
            self.said[block] = key
            self.key[block] = byte.mixed(key ^ where)
            if linkish and piece_of[word] != piece_of[stop - 1]:
                key = byte.FNV_START
                for i in range(word, stop):
                    key = byte.hashed(key, keys[i])
                    self.part[i] = cython.cast(cython.int, parts)
                    if i + 1 == stop or piece_of[i + 1] != piece_of[i]:
                        part_key[parts] = byte.mixed(key ^ where ^ PART)
                        part_block[parts] = cython.cast(cython.int, block)
                        parts += 1
                        key = byte.FNV_START
            if stop - word > RUN:
                for i in range(word, stop - RUN + 1):
                    if stop - word > LONGEST and i != word and i != stop - RUN:
                        continue
                    key = byte.FNV_START
                    for piece in range(i, i + RUN):
                        key = byte.hashed(key, keys[piece])
                    run_key[runs] = byte.mixed(key ^ RUNS ^ (LINKISH if linkish else 0))
                    run_at[runs] = cython.cast(cython.int, i)
                    runs += 1
        self.parts = parts
        self.runs = runs
        self.find_echoes()

    def find_echoes(self):
        """Mark the blocks that say what one of the first headings says."""
        headings: cython.int = 0
        block: cython.Py_ssize_t
        other: cython.Py_ssize_t
        for block in range(self.blocks):
            if self.flags[block] & scan.HEADING and not self.is_apart(block):
                headings += 1
                for other in range(self.blocks):
                    if self.said[other] == self.said[block]:
                        if not self.flags[other] & scan.HEADING:
                            self.flags[other] |= ECHO
                if headings == HEADINGS:
                    return

    def is_linkish(self, block):
        """Whether at least half of a block's words are in links."""
        return 2 * self.linked[block] >= self.first[block + 1] - self.first[block]

    def is_apart(self, block):
        """Whether the page's own markup calls a block navigation, or something beside the text."""
        return self.flags[block] & (scan.NAVIGATION | scan.ASIDE) != 0


class Site:
    """What the pages of one site have said so far."""

    def __init__(self) -> None:
        self.counts = LossyCounting(KEYS, 0, NEW_KEYS)
        self.slots = LossyCounting(SLOTS, 6, NEW_SLOTS)
        self.pages = 0
        self.with_main = 0  # pages that have a main element
        self.turn = 0

    # -- learning ------------------------------------------------------------------------------

    def learn(self, page) -> None:
        """Take in a page."""
        slots = plain(np.empty(page.nodes, dtype=np.uint64))
        repeated = np.zeros(page.words, dtype=np.uint8)
        self.take_in(page, slots, repeated)

    def judge(self, page, kept) -> None:
        """Take in a page, and say of each of its words whether it is main text."""
        slots = plain(np.empty(page.nodes, dtype=np.uint64))
        repeated = np.zeros(page.words, dtype=np.uint8)
        self.take_in(page, slots, repeated)
        self.find_main(page, slots, repeated, kept)

    def take_in(self, page, slots, repeated):
        """Take in a page; the keys of its slots, and what is repeated of its words."""
        i: cython.Py_ssize_t
        self.pages += 1
        self.counts.turn()
        main: cython.bint = False
        for i in range(page.blocks):
            if page.flags[i] & scan.MAIN:
                main = True
            if not page.is_apart(i):
                self.counts.see(page.key[i])
        if main:
            self.with_main += 1
        for i in range(page.parts):
            if not page.is_apart(page.part_block[i]):
                self.counts.see(page.part_key[i])
        for i in range(page.runs):
            if not page.is_apart(page.block[page.run_at[i]]):
                self.counts.see(page.run_key[i])
        for i in range(page.nodes):
            if page.ident[i]:
                self.counts.see(page.ident[i])
        self.counts.close()

        self.name_slots(page, slots)
        self.mark(page, repeated)
        self.sum_up(page, slots, repeated)
        self.slots.close()

    def name_slots(self, page, slots):
        """The key of each element's slot. An id is part of it where a tenth of pages have it."""
        i: cython.Py_ssize_t
        above: cython.ulonglong
        kind: cython.ulonglong
        known: cython.int
        for i in range(page.nodes):
            kind = page.kind[i]
            if page.ident[i]:
                known = self.counts.count(page.ident[i])
                if known >= 3 and 10 * known >= min(self.pages, 100):
                    kind ^= page.ident[i]
            above = slots[page.parent[i]] if page.parent[i] >= 0 else 0
            slots[i] = byte.mixed(((above * byte.GOLDEN) & byte.MASK) ^ kind)

    def sum_up(self, page, slots, repeated):
        """Add a page's words to the slots that they stand in, and to all slots around these."""
        sums: cython.int[:, ::1] = np.zeros((page.nodes, 4), dtype=np.intc)
        block: cython.Py_ssize_t
        word: cython.Py_ssize_t
        i: cython.Py_ssize_t
        at: cython.Py_ssize_t
        node: cython.int
        for block in range(page.blocks):
            node = page.node[block]
            if node < 0 or page.is_apart(block):
                continue
            sums[node, 0] += page.first[block + 1] - page.first[block]
            sums[node, 2] += page.linked[block]
            for word in range(page.first[block], page.first[block + 1]):
                if repeated[word]:
                    sums[node, 1] += 1
                    if repeated[word] & 2:
                        sums[node, 3] += 1
        for i in range(page.nodes - 1, 0, -1):  # an element comes after those around it
            node = page.parent[i]
            if node >= 0:
                sums[node, 0] += sums[i, 0]
                sums[node, 1] += sums[i, 1]
                sums[node, 2] += sums[i, 2]
                sums[node, 3] += sums[i, 3]
        self.slots.turn()
        for i in range(page.nodes):
            if sums[i, 0] > 0:
                self.add(self.slots.see(slots[i]), sums, i)
                if page.marks[i] & scan.NAMED:
                    self.add(self.slots.see(byte.mixed(page.kind[i] ^ KIND)), sums, i)
        block = self.core(page, repeated, None)
        node = page.node[block] if block >= 0 else -1
        while node >= 0:
            at = self.slots.find(slots[node])
            if at >= 0:
                self.slots.sum[at, CORES] += 1
            if page.marks[node] & scan.NAMED:
                at = self.slots.find(byte.mixed(page.kind[node] ^ KIND))
                if at >= 0:
                    self.slots.sum[at, CORES] += 1
            node = page.parent[node]

    def add(self, at, sums, node):
        """Add the words of an element to a slot, if there was room for it."""
        if at >= 0:
            self.slots.sum[at, WORDS] += sums[node, 0]
            self.slots.sum[at, REPEATS] += sums[node, 1]
            self.slots.sum[at, LINKED] += sums[node, 2]
            self.slots.sum[at, STRONG] += sums[node, 3]

    # -- judging -------------------------------------------------------------------------------

    def mark(self, page, repeated):
        """Say of each word whether it is a repeat (1), on half of the pages (3), on four fifths of
        them (7), or none of these (0)."""
        pages: cython.longlong = self.pages
        link: cython.longlong = max(3, min(8, (pages + 99) // 100))
        text: cython.longlong = max(5, min(50, (pages + 19) // 20))
        half: cython.longlong = (pages + 1) // 2
        most: cython.longlong = (4 * pages + 4) // 5
        linkish: cython.bint
        i: cython.Py_ssize_t
        word: cython.Py_ssize_t
        count: cython.longlong
        mark: cython.uint
        for i in range(page.blocks):
            count = self.counts.count(page.key[i])
            linkish = page.is_linkish(i)
            mark = degree(count, link if linkish else text, half, most, 2 if linkish else 3)
            if page.flags[i] & ECHO:
                mark |= 1
            if mark:
                for word in range(page.first[i], page.first[i + 1]):
                    repeated[word] |= mark
        for i in range(page.words):
            if page.part[i] >= 0 and (i == 0 or page.part[i] != page.part[i - 1]):
                count = self.counts.count(page.part_key[page.part[i]])
                mark = degree(count, link, half, most, 2)
                word = i
                while mark and word < page.words and page.part[word] == page.part[i]:
                    repeated[word] |= mark
                    word += 1
        for i in range(page.runs):
            count = self.counts.count(page.run_key[i])
            linkish = page.is_linkish(page.block[page.run_at[i]])
            mark = degree(count, text, half, most, 2 if linkish else 3)
            if mark:
                for word in range(page.run_at[i], page.run_at[i] + RUN):
                    repeated[word] |= mark

    def core(self, page, repeated, verdicts):
        """The block with the most words of its own outside of links, then of all words of its own;
        the first of equals. -1 where no word is the page's own. With `verdicts`, only of blocks in
        elements that are content."""
        best: cython.Py_ssize_t = -1
        most_bare: cython.int = 0
        most: cython.int = 0
        bare: cython.int
        own: cython.int
        block: cython.Py_ssize_t
        word: cython.Py_ssize_t
        for block in range(page.blocks):
            if page.is_apart(block):
                continue
            if verdicts is not None and page.node[block] >= 0 and verdicts[page.node[block]]:
                continue
            bare = own = 0
            for word in range(page.first[block], page.first[block + 1]):
                if not repeated[word]:
                    own += 1
                    bare += 1 - page.link[word]
            if bare > most_bare or (bare == most_bare and own > most):
                best, most_bare, most = block, bare, own
        return best

    def judge_slots(self, page, slots, core, verdicts):
        """Of each element: 0 for content; 1 for what is not main text at the edges of a page, 2 for
        what is not anywhere, 5 for what is not at the edges, and its repeats not anywhere. What
        holds an element is judged before it, and what holds the core is content."""
        i: cython.Py_ssize_t
        at: cython.Py_ssize_t
        pages: cython.longlong = self.pages
        trusted: cython.bint = self.is_trusted()
        within: cython.bint
        words: cython.longlong
        repeats: cython.longlong
        linked: cython.longlong
        stood: cython.longlong
        node: cython.int = page.node[core] if core >= 0 else -1
        self.turn += 1
        while node >= 0:
            at = self.slots.find(slots[node])
            if at >= 0:
                self.slots.sum[at, ENTERED] = self.turn
            node = page.parent[node]
        for i in range(page.nodes):
            node = page.parent[i]
            verdicts[i] = verdicts[node] if node >= 0 else 0
            if verdicts[i]:
                continue
            at = self.slots.find(slots[i])
            if at >= 0 and self.slots.sum[at, ENTERED] == self.turn:  # what holds the core
                continue
            stood = self.slots.counts[at] if at >= 0 else 0
            if (stood < 4 or 10 * stood < pages) and page.marks[i] & scan.NAMED:
                at = self.slots.find(byte.mixed(page.kind[i] ^ KIND))
                stood = self.slots.counts[at] if at >= 0 else 0
            if stood < 4 or 10 * stood < pages or 10 * self.slots.sum[at, CORES] >= stood:
                continue
            within = trusted and page.marks[i] & scan.MAIN != 0
            if within and 5 * stood < 4 * pages:
                continue
            words = self.slots.sum[at, WORDS]
            repeats = self.slots.sum[at, REPEATS]
            linked = self.slots.sum[at, LINKED]
            if 5 * repeats >= 4 * words and 2 * linked >= words:
                verdicts[i] = 2
            elif 4 * repeats >= words:
                verdicts[i] = 5 if 2 * linked >= words else 1
            elif pages >= 10 and 5 * stood >= 4 * pages:
                if not within and 5 * linked >= 4 * words:
                    verdicts[i] = 1
                elif self.slots.sum[at, STRONG] >= stood and words <= 30 * stood:
                    verdicts[i] = 1

    def is_trusted(self):
        """Whether the pages of the site say themselves which part is the main one."""
        return 10 * self.with_main >= 9 * self.pages

    def main(self, page, kept) -> None:
        """Say of each word of a page whether it is main text."""
        slots = plain(np.empty(page.nodes, dtype=np.uint64))
        repeated = np.zeros(page.words, dtype=np.uint8)
        self.name_slots(page, slots)
        self.mark(page, repeated)
        self.find_main(page, slots, repeated, kept)

    def find_main(self, page, slots, repeated, kept):
        """The same, when the keys of its slots and what is repeated are known."""
        words: cython.Py_ssize_t = page.words
        verdicts: cython.uchar[::1] = np.zeros(page.nodes, dtype=np.uint8)
        shown: cython.int[::1] = np.empty(words, dtype=np.intc)
        chrome: cython.uchar[::1] = np.zeros(words, dtype=np.uint8)
        if not cython.compiled:
            repeated, verdicts = memoryview(repeated), memoryview(verdicts)
            shown, chrome, kept = memoryview(shown), memoryview(chrome), memoryview(kept)
        core: cython.Py_ssize_t = self.core(page, repeated, None)
        count: cython.Py_ssize_t = 0
        block: cython.int
        word: cython.Py_ssize_t
        i: cython.Py_ssize_t
        for word in range(words):
            kept[word] = 0
            if not page.is_apart(page.block[word]):
                shown[count] = cython.cast(cython.int, word)
                count += 1
        if core < 0:  # nothing is its own: all but what half of the pages say
            for i in range(count):
                kept[shown[i]] = repeated[shown[i]] & 2 == 0
            return
        self.judge_slots(page, slots, -1, verdicts)
        if self.core(page, repeated, verdicts) < 0:
            self.judge_slots(page, slots, core, verdicts)

        # Of a word: 1 if it goes at an edge, 2 if it goes anywhere, 4 for a heading of its own.
        trusted: cython.bint = self.is_trusted()
        within: cython.bint
        verdict: cython.uint
        for i in range(count):
            word = shown[i]
            block = page.block[word]
            within = trusted and page.flags[block] & scan.MAIN != 0
            verdict = verdicts[page.node[block]] if page.node[block] >= 0 else 0
            if page.flags[block] & scan.HEADING and not repeated[word]:
                chrome[word] = 4
                continue
            if verdict or repeated[word] & (4 if within else 2):
                chrome[word] = 1
            if within:
                continue
            if verdict == 2 or repeated[word] & 2 or (verdict == 5 and repeated[word]):
                chrome[word] |= 2
        low: cython.Py_ssize_t = 0
        high: cython.Py_ssize_t = count
        i = 0
        while i < count and chrome[shown[i]] & 5:
            if chrome[shown[i]] & 1:
                low = i + 1
            i += 1
        i = count
        while i > 0 and chrome[shown[i - 1]] & 5:
            if chrome[shown[i - 1]] & 1:
                high = i - 1
            i -= 1
        for i in range(count):
            word = shown[i]
            if chrome[word] & 4:
                kept[word] = 1
            elif low < high:
                kept[word] = low <= i and i < high and chrome[word] & 2 == 0
            else:
                kept[word] = chrome[word] == 0

        eaten: cython.int = 0
        left: cython.int = 0
        held: cython.int = 0
        lost: cython.int = 0
        for i in range(count):
            word = shown[i]
            if kept[word]:
                held += 1
            elif repeated[word] & 2 == 0:
                lost += 1
            if not repeated[word] and not page.link[word]:
                if kept[word]:
                    left += 1
                else:
                    eaten += 1
        index: cython.bint = held < 12 and lost > 4 * held
        if eaten > left or index:  # a page that would lose most of its own: an index, mostly
            for i in range(count):
                word = shown[i]
                block = page.block[word]
                verdict = verdicts[page.node[block]] if page.node[block] >= 0 else 0
                if chrome[word] & 4 == 0:
                    kept[word] = verdict != 2 and repeated[word] & 2 == 0

    # -- state ---------------------------------------------------------------------------------

    def state(self) -> dict:
        """All that was learned, as arrays."""
        found = {"facts": np.array([self.pages, self.with_main, self.turn], dtype=np.int64)}
        for name, table in (("counts", self.counts), ("slots", self.slots)):
            found.update({f"{name}.{part}": array for part, array in table.state().items()})
        return found

    def restore(self, state) -> None:
        """Become what a state says."""
        self.pages, self.with_main, self.turn = (int(fact) for fact in state["facts"])
        for name, table in (("counts", self.counts), ("slots", self.slots)):
            parts = ("facts", "keys", "counts", "deltas", "sums")
            table.restore({part: state[f"{name}.{part}"] for part in parts})


def degree(count, enough, half, most, least):
    """How often is often: 0, 1, 3 or 7. Fewer than `least` pages are not."""
    if count < least:
        return 0
    if count >= most:
        return 7
    if count >= half:
        return 3
    return 1 if count >= enough else 0


def spans(page, kept) -> object:
    """Where the words that are kept stand in the text: from byte to byte, in order.

    A word owns what follows it up to the next, and the first of a block what stands before it.
    """
    found: cython.int[:, ::1] = np.empty((page.words, 2), dtype=np.intc)
    if not cython.compiled:
        kept = memoryview(kept)
    count: cython.Py_ssize_t = 0
    word: cython.Py_ssize_t
    begin: cython.int
    block: cython.int
    for word in range(page.words):
        block = page.block[word]
        begin = page.begin[block] if page.first[block] == word else page.start[word]
        if kept[word]:
            if count > 0 and word > 0 and kept[word - 1]:
                pass
            else:
                found[count, 0] = begin
                count += 1
        elif count > 0 and word > 0 and kept[word - 1]:
            found[count - 1, 1] = begin
    if count > 0 and kept[page.words - 1]:
        found[count - 1, 1] = cython.cast(cython.int, page.size)
    return np.asarray(found)[:count]


def positions(places: cython.int[:, ::1], links) -> list[int]:
    """Where links stand whose second and third items are where their anchors begin and end: 1 in
    one of these places, 2 behind the last of them, 0 elsewhere. Both come in order, mostly.

    An anchor without text stands where it begins.
    """
    found: list[int] = []
    at: cython.Py_ssize_t = 0
    count: cython.Py_ssize_t = places.shape[0]
    begin: cython.int
    end: cython.int
    link: tuple
    for item in links:
        link = cython.cast(tuple, item)
        begin = link[1]
        end = link[2]
        while at > 0 and places[at - 1, 1] > begin:
            at -= 1
        while at < count and places[at, 1] <= begin:
            at += 1
        if at == count:
            found.append(2 if count else 0)
        else:
            found.append(1 if places[at, 0] < max(end, begin + 1) else 0)
    return found
