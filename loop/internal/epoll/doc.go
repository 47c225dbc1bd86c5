// Package epoll is a thin cover over Linux's epoll calls; on other systems it is empty. None of the
// calls can block, so they are raw: the scheduler is not told about them, which would cost as much
// as the calls themselves.
package epoll
