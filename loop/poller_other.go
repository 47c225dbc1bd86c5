//go:build !linux

package loop

func newPoller(maxEvents int) (poller, error) { return newChanPoller(maxEvents) }
