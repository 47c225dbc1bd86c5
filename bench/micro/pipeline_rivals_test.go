package micro

// The rivals of channel.Pipeline in BenchmarkPipeline. They contain no panics and do not know
// which handler runs.

// assertPipeline is the naive one: a list of handlers, in which each event looks for the next
// handler that takes it by asking each for its methods.
type assertPipeline []any

type assertReader interface {
	assertRead(p assertPipeline, at int, msg any)
}

type assertWriter interface {
	assertWrite(p assertPipeline, at int, msg any)
}

func (p assertPipeline) read(at int, msg any) {
	for at++; at < len(p); at++ {
		if h, ok := p[at].(assertReader); ok {
			h.assertRead(p, at, msg)
			return
		}
	}
}

func (p assertPipeline) write(at int, msg any) {
	for at--; at >= 0; at-- {
		if h, ok := p[at].(assertWriter); ok {
			h.assertWrite(p, at, msg)
			return
		}
	}
}

func (h *countHandler) assertRead(p assertPipeline, at int, msg any) {
	h.take(msg.(*pipelineMessage))
	p.read(at, msg)
}
func (h *sumHandler) assertRead(p assertPipeline, at int, msg any) {
	h.take(msg.(*pipelineMessage))
	p.read(at, msg)
}
func (h *maxHandler) assertRead(p assertPipeline, at int, msg any) {
	h.take(msg.(*pipelineMessage))
	p.read(at, msg)
}
func (h *toggleHandler) assertRead(p assertPipeline, at int, msg any) {
	h.take(msg.(*pipelineMessage))
	p.read(at, msg)
}
func (h *writerHandler) assertWrite(p assertPipeline, at int, msg any) {
	h.n++
	p.write(at, msg)
}
func (h *endHandler) assertRead(assertPipeline, int, any) { h.n++ }
func (h *echoHandler) assertRead(p assertPipeline, at int, msg any) {
	h.n++
	p.write(at, msg)
}
func (h *headHandler) assertWrite(assertPipeline, int, any) { h.n++ }

// chainLink is the least that passing messages on can cost: links made once, as functions that
// wrap each other are, which nobody can change any more.
type chainLink struct {
	next, prev *chainLink
	reader     chainReader // of this link; nil: it takes no reads
	writer     chainWriter
}

type chainReader interface {
	chainRead(l *chainLink, msg any)
}

type chainWriter interface {
	chainWrite(l *chainLink, msg any)
}

// newChain returns what stands before the first reader.
func newChain(handlers []any) *chainLink {
	first := &chainLink{}
	lastReader, lastWriter := first, (*chainLink)(nil)
	for _, h := range handlers {
		l := &chainLink{prev: lastWriter}
		l.reader, _ = h.(chainReader)
		l.writer, _ = h.(chainWriter)
		if l.reader != nil {
			lastReader.next = l
			lastReader = l
		}
		if l.writer != nil {
			lastWriter = l
		}
	}
	return first
}

func (l *chainLink) fireRead(msg any) { l.next.reader.chainRead(l.next, msg) }
func (l *chainLink) write(msg any)    { l.prev.writer.chainWrite(l.prev, msg) }

func (h *countHandler) chainRead(l *chainLink, msg any) {
	h.take(msg.(*pipelineMessage))
	l.fireRead(msg)
}
func (h *sumHandler) chainRead(l *chainLink, msg any) {
	h.take(msg.(*pipelineMessage))
	l.fireRead(msg)
}
func (h *maxHandler) chainRead(l *chainLink, msg any) {
	h.take(msg.(*pipelineMessage))
	l.fireRead(msg)
}
func (h *toggleHandler) chainRead(l *chainLink, msg any) {
	h.take(msg.(*pipelineMessage))
	l.fireRead(msg)
}
func (h *writerHandler) chainWrite(l *chainLink, msg any) {
	h.n++
	l.write(msg)
}
func (h *endHandler) chainRead(*chainLink, any) { h.n++ }
func (h *echoHandler) chainRead(l *chainLink, msg any) {
	h.n++
	l.write(msg)
}
func (h *headHandler) chainWrite(*chainLink, any) { h.n++ }
