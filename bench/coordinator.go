package main

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"
)

// coordinatorGoal is the gateway's time and processor time to those of Kafka.
const coordinatorGoal = 1.0

// contender is one of the two servers that coordinate the same groups.
type contender struct {
	name    string
	address string
	process *server
	done    map[string][]effort // by work
	rounds  int
}

// effort is the time of a work and the processor time of the server in it.
type effort struct {
	took, cpu time.Duration
}

// coordinating are the sizes of the work.
type coordinating struct {
	large, largeSize int // groups one after the other, members of each
	small, smallSize int // groups at once, members of each
	intervals        int // seconds with a heartbeat of each member of the small groups
}

// coordinator has the same members form the same groups on the gateway and on a
// real Kafka broker, in turns, and send heartbeats.
func coordinator(b *bench) error {
	if limit, err := openFiles(); err != nil {
		return err
	} else if needed := smallGroups*smallGroupSize + idleReserve; limit < uint64(needed) {
		fmt.Printf("not measured: %d open files are needed, the limit (ulimit -n) is %d\n", needed, limit)
		return nil
	}
	kafka, err := startBroker(b.dir)
	if errors.Is(err, errNoJava) {
		fmt.Printf("skipped, %v\n", err)
		return nil
	}
	if err != nil {
		return err
	}
	defer kafka.stop()
	u, err := startSetup(b, 0, "--initial-rebalance-delay", "0s")
	if err != nil {
		return err
	}
	defer u.stop()
	work := coordinating{b.turns(20, 2), groupPartitions, b.turns(smallGroups, 200), smallGroupSize, b.turns(10, 2)}
	both := []*contender{
		{name: "gateway", address: u.kafka, process: u.gateway},
		{name: "Kafka", address: kafka.kafka, process: kafka.server},
	}
	for _, c := range both {
		if err := createTopic(c.address, groupTopic, groupPartitions); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	if err := compete(both, work, b.turns(2, 1)); err != nil {
		return err
	}
	for _, c := range both {
		c.done = map[string][]effort{} // that was the warm-up
	}
	if err := compete(both, work, b.turns(3, 1)); err != nil {
		return err
	}
	printCoordinator(b, both[0], both[1], work)
	fmt.Printf("memory at most: gateway %.0f MiB, Kafka %.0f MiB\n", mebibytes(u.gateway.peakRSS()), mebibytes(kafka.peakRSS()))
	return nil
}

const (
	smallGroups    = 1000
	smallGroupSize = 5
)

// compete does the works in turns.
func compete(both []*contender, work coordinating, rounds int) error {
	for range rounds {
		for _, c := range both {
			if err := c.round(work); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
		}
	}
	return nil
}

// The works.
const (
	oneGroup    = "members join one group"
	manyAtOnce  = "groups at once"
	beatsMedian = "heartbeats, median"
	beatsTail   = "heartbeats, 99th percentile"
)

func (c *contender) round(work coordinating) error {
	c.rounds++
	name := fmt.Sprintf("%s-%d", c.name, c.rounds)
	if err := c.largeGroups(name+"-large", work); err != nil {
		return err
	}
	return c.smallGroups(name+"-small", work)
}

// largeGroups come together one after the other. Those that are complete stay,
// so that nothing but joining is measured.
func (c *contender) largeGroups(name string, work coordinating) error {
	members, err := gatherCrowd(c.address, name, work.large, work.largeSize)
	if err != nil {
		return err
	}
	var took []time.Duration
	e, err := c.measured(func() (err error) {
		took, err = members.assembleInTurn()
		return err
	})
	if err != nil {
		return errors.Join(err, members.hangUp())
	}
	c.note(oneGroup, effort{medianTime(took), e.cpu / time.Duration(work.large)})
	return members.leave()
}

func (c *contender) smallGroups(name string, work coordinating) error {
	members, err := gatherCrowd(c.address, name, work.small, work.smallSize)
	if err != nil {
		return err
	}
	e, err := c.measured(members.assemble)
	if err != nil {
		return errors.Join(err, members.hangUp())
	}
	c.note(manyAtOnce, e)
	var answers []time.Duration
	e, err = c.measured(func() (err error) {
		answers, err = members.beat(time.Second, work.intervals)
		return err
	})
	if err != nil {
		return errors.Join(err, members.hangUp())
	}
	slices.Sort(answers)
	perSecond := e.cpu / time.Duration(work.intervals)
	c.note(beatsMedian, effort{answers[len(answers)/2], perSecond})
	c.note(beatsTail, effort{answers[len(answers)*99/100], perSecond})
	return members.leave()
}

func (c *contender) note(work string, e effort) {
	if c.done == nil {
		c.done = map[string][]effort{}
	}
	c.done[work] = append(c.done[work], e)
}

func (c *contender) measured(do func() error) (e effort, err error) {
	before, err := c.process.cpu()
	if err != nil {
		return e, err
	}
	begin := time.Now()
	if err := do(); err != nil {
		return e, err
	}
	e.took = time.Since(begin)
	after, err := c.process.cpu()
	e.cpu = after - before
	return e, err
}

// median is that of the rounds, of time and processor time by themselves.
func (c *contender) median(work string) (e effort) {
	var took, cpu []float64
	for _, one := range c.done[work] {
		took, cpu = append(took, float64(one.took)), append(cpu, float64(one.cpu))
	}
	return effort{time.Duration(middle(took)), time.Duration(middle(cpu))}
}

func printCoordinator(b *bench, gateway, kafka *contender, work coordinating) {
	rate := work.small * work.smallSize
	titles := map[string]string{
		oneGroup:    fmt.Sprintf("%d members join one group", work.largeSize),
		manyAtOnce:  fmt.Sprintf("%d groups of %d at once", work.small, work.smallSize),
		beatsMedian: fmt.Sprintf("%d heartbeats a second, median", rate),
		beatsTail:   fmt.Sprintf("%d heartbeats a second, 99th percentile", rate),
	}
	fmt.Printf("%d cores, %s/%s, %s. Medians of %d rounds after %d to warm up; processor time of the server, of heartbeats: for one second of them.\n\n",
		runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), len(gateway.done[oneGroup]), gateway.rounds-len(gateway.done[oneGroup]))
	fmt.Println("| work                                      | gateway, ms | Kafka, ms | ratio | gateway, CPU ms | Kafka, CPU ms | ratio | goal   |")
	fmt.Println("|-------------------------------------------|------------:|----------:|------:|----------------:|--------------:|------:|--------|")
	var goals []func()
	for _, name := range []string{oneGroup, manyAtOnce, beatsMedian, beatsTail} {
		ours, theirs := gateway.median(name), kafka.median(name)
		took, cpu := ratio(ours.took, theirs.took), ratio(ours.cpu, theirs.cpu)
		verdict := "met"
		if took > coordinatorGoal || cpu > coordinatorGoal {
			verdict = "MISSED"
		}
		fmt.Printf("| %-41s | %11s | %9s | %5.2f | %15s | %13s | %5.2f | %-6s |\n", titles[name],
			milliseconds(ours.took), milliseconds(theirs.took), took, milliseconds(ours.cpu), milliseconds(theirs.cpu), cpu, verdict)
		goals = append(goals, func() {
			b.goal(took <= coordinatorGoal && cpu <= coordinatorGoal, titles[name]+": time and processor time not above Kafka's",
				fmt.Sprintf("%.2f and %.2f of Kafka's", took, cpu))
		})
	}
	fmt.Println()
	for _, print := range goals {
		print()
	}
}

func ratio(ours, theirs time.Duration) float64 { return float64(ours) / float64(max(theirs, 1)) }
