package status

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// count writes a whole number with a thin space between thousands.
func count(n any) string {
	digits, grouped := fmt.Sprint(n), ""
	for len(digits) > 3 {
		grouped = "\u2009" + digits[len(digits)-3:] + grouped
		digits = digits[:len(digits)-3]
	}
	return digits + grouped
}

// perSecond writes records per second: with a digit behind the point where there
// are few.
func perSecond(rate float64) string {
	switch {
	case rate == 0:
		return "0"
	case rate < 0.1:
		return "< 0.1"
	case rate < 10:
		return strconv.FormatFloat(rate, 'f', 1, 64)
	}
	return count(int64(math.Round(rate)))
}

// bytesPerSecond writes a rate in decimal units, as network tools do.
func bytesPerSecond(rate float64) string {
	units := []string{"B/s", "kB/s", "MB/s", "GB/s"}
	unit := 0
	for rate >= 999.5 && unit < len(units)-1 {
		rate, unit = rate/1000, unit+1
	}
	if unit == 0 || rate >= 99.5 {
		return fmt.Sprintf("%.0f %s", rate, units[unit])
	}
	return fmt.Sprintf("%.1f %s", rate, units[unit])
}

// lasted writes a time in its two largest units.
func lasted(seconds int64) string {
	d := time.Duration(seconds) * time.Second
	days, hours, minutes := seconds/86400, seconds/3600%24, seconds/60%60
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", seconds)
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", minutes, seconds%60)
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h %d min", hours, minutes)
	}
	return fmt.Sprintf("%d d %d h", days, hours)
}

// ago writes how long before now a moment was, "never" for none.
func ago(now, moment time.Time) string {
	if moment.IsZero() {
		return "never"
	}
	return lasted(max(0, int64(now.Sub(moment).Seconds()))) + " ago"
}

// stamp is a moment for machines, and for people who hover over it.
func stamp(moment time.Time) string {
	if moment.IsZero() {
		return ""
	}
	return moment.UTC().Format(time.RFC3339)
}
