package buffer

// An arena keeps its chunks in lists by how full they are, and takes pages from the fullest
// chunk that has them, so that the emptiest get a chance to become free and be given back.
//
// The bounds of a list are numbers of free bytes, worked out once. They overlap: a chunk that
// has just moved must gain or lose a good part of it before it moves again.

// fills says of each list, the fullest first, which part of a chunk's bytes is in use, in
// percent.
var fills = [...]struct{ from, to int }{{100, 100}, {75, 99}, {50, 90}, {25, 65}, {0, 40}}

const (
	fullBand   = 0 // not searched
	lowestBand = len(fills) - 1
)

// bands are the bounds of the lists in free bytes.
var bands = func() (b [len(fills)]struct{ least, most int }) {
	for i, f := range fills {
		b[i].least = chunkSize - chunkSize/100*f.to
		b[i].most = chunkSize - chunkSize/100*f.from
	}
	b[fullBand].least, b[fullBand].most = 0, 0
	b[fullBand+1].least = pageSize
	b[lowestBand].most = chunkSize
	return b
}()

// maxTries bounds the chunks of one list that are searched for pages.
const maxTries = 64

type chunkLists [len(fills)][]*chunk

// find returns a chunk with n pages in a row and the first of them, which it has taken; or
// nil. Of the fullest chunks it takes the one with the smallest hole: the first that was
// large enough left so many small ones that a tenth more memory was needed.
func (l *chunkLists) find(n int) (*chunk, int) {
	for i := fullBand + 1; i < len(l); i++ {
		list := l[i]
		var best *chunk
		page, length := 0, chunkPages+1
		for k := len(list) - 1; k >= max(0, len(list)-maxTries) && length > n; k-- {
			c := list[k]
			if c.free < n*pageSize {
				continue
			}
			if at, hole := c.pages.bestHole(n); hole < length {
				best, page, length = c, at, hole
			}
		}
		if best != nil {
			best.take(page, n)
			l.settle(best)
			return best, page
		}
	}
	return nil, 0
}

// settle moves c to the list that it belongs to now, if need be.
func (l *chunkLists) settle(c *chunk) {
	to := c.band
	for c.free < bands[to].least {
		to--
	}
	for c.free > bands[to].most {
		to++
	}
	if to != c.band {
		l.remove(c)
		l.add(c, to)
	}
}

func (l *chunkLists) add(c *chunk, band int) {
	c.band, c.at = band, len(l[band])
	l[band] = append(l[band], c)
}

func (l *chunkLists) remove(c *chunk) {
	list := l[c.band]
	last := len(list) - 1
	list[c.at] = list[last]
	list[c.at].at = c.at
	list[last] = nil
	l[c.band] = list[:last]
}
