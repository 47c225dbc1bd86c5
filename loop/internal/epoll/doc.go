//go:build !linux

// Package epoll exists on Linux only; elsewhere it is empty.
package epoll
