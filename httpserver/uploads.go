package httpserver

import (
	"runtime"
	"sync"
)

// uploadPool runs the uploads that have something to do, on few goroutines: each may be held
// up by the disk, with a thread of the system's. They come when there is work and go when
// there is none.
type uploadPool struct {
	mu      sync.Mutex
	running int
	waiting []*upload
}

// maxUploading is how many uploads of a server are at work at once for each processor; the
// others wait, and their clients with them.
const maxUploading = 16

// submit has a goroutine work on u, soon.
func (p *uploadPool) submit(u *upload) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running < maxUploading*runtime.GOMAXPROCS(0) {
		p.running++
		go p.run(u)
		return
	}
	p.waiting = append(p.waiting, u)
}

// run works on u and on others that wait, one after another, so that none is kept waiting by
// those that have a lot.
func (p *uploadPool) run(u *upload) {
	for u != nil {
		if !u.work() {
			u = nil
		}
		u = p.next(u)
	}
}

// next puts back one with more to do, and returns the one that has waited longest.
func (p *uploadPool) next(u *upload) *upload {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.waiting) == 0 {
		p.waiting = nil
		if u == nil {
			p.running--
		}
		return u
	}
	first := p.waiting[0]
	p.waiting[0] = nil
	p.waiting = p.waiting[1:]
	if u != nil {
		p.waiting = append(p.waiting, u)
	}
	return first
}
