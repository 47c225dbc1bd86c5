// Package offload hands blocking work to goroutines, so that a loop never waits: database
// calls, files, CPU-bound work.
//
// A Pool has the goroutines, for any number of channels. A Handler passes the messages of one
// channel to it, one after another, and brings the results back to the loop in the same
// order. When too many wait, the channel stops reading, so that the peer is slowed down.
//
//	pool := offload.NewPool(offload.PoolOptions{})
//	...
//	p.AddLast("db", offload.New(pool, func(ctx context.Context, q *Query) (any, error) {
//		return db.Look(ctx, q)
//	}, offload.Options{}))
//
// A channel that closes gets no more results. So where clients end their direction and then
// wait for answers, the channel's Config has to have AllowHalfClosure: the end of the input,
// OnShutdown(Inbound), then comes in its turn, behind the last result.
package offload
