package workers

import "sync"

// Pool runs tasks. Its goroutines come when there is work and go when there is none. The
// methods may be called from any goroutine.
type Pool struct {
	limit, queue int

	mu      sync.Mutex
	ended   sync.Cond // told when the last goroutine has gone
	running int
	waiting []func()
	closed  bool
}

// New returns a pool of up to limit goroutines, in front of which up to queue tasks wait.
func New(limit, queue int) *Pool {
	p := &Pool{limit: limit, queue: queue}
	p.ended.L = &p.mu
	return p
}

// Do has a goroutine run task, soon. It doesn't wait; false says that there is no room, or
// that the pool was closed, and that task won't run.
func (p *Pool) Do(task func()) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return false
	case p.running < p.limit:
		p.running++
		go p.work(task)
	case len(p.waiting) < p.queue:
		p.waiting = append(p.waiting, task)
	default:
		return false
	}
	return true
}

func (p *Pool) work(task func()) {
	for task != nil {
		task()
		task = p.next()
	}
}

// next returns the task that has waited longest; nil ends the goroutine.
func (p *Pool) next() (task func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.waiting) == 0 {
		p.waiting = nil
		if p.running--; p.running == 0 {
			p.ended.Broadcast()
		}
		return nil
	}
	task = p.waiting[0]
	p.waiting[0] = nil
	p.waiting = p.waiting[1:]
	return task
}

// Close takes no more tasks, and returns when all that were taken have run.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for p.running > 0 {
		p.ended.Wait()
	}
}
