package gateway

// onceEach gives what a request names, such as topics, each once and in its order, as
// the answer has them; and how many times each was named.
func onceEach[T any, K comparable](all []T, nameOf func(T) K) (once []T, named map[K]int) {
	once, named = make([]T, 0, len(all)), make(map[K]int, len(all))
	for _, one := range all {
		name := nameOf(one)
		if named[name]++; named[name] == 1 {
			once = append(once, one)
		}
	}
	return once, named
}
