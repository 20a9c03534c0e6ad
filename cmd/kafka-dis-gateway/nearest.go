package main

// nearest is the name that key was probably meant to be: the one with the
// smallest edit distance, at most a third of its length; "" when none is near.
func nearest(key string, names []string) string {
	best, bestDistance := "", len(key)
	for _, name := range names {
		if d := editDistance(key, name); d < bestDistance && d <= max(1, len(name)/3) {
			best, bestDistance = name, d
		}
	}
	return best
}

// editDistance counts the bytes to insert, delete or replace (Levenshtein).
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
