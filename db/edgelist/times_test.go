package edgelist

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestTimeFormatText(t *testing.T) {
	t.Parallel()
	for f := AnyTime; f <= Date; f++ {
		var got TimeFormat
		if err := got.UnmarshalText([]byte(f.String())); err != nil || got != f {
			t.Errorf("%v: got %v, %v", f, got, err)
		}
	}
	if err := new(TimeFormat).UnmarshalText([]byte("minutes")); err == nil || !strings.Contains(err.Error(), "s, ms, us, ns, rfc3339, datetime, date") {
		t.Error(err)
	}
}

func TestReadTimes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		times, want string // times of a list, one edge a line
	}{
		{"1082040961", "s 1082040961"},
		{"1082040961000 1082040961999", "ms 1082040961 1082040961"},
		{"1082040961000000", "us 1082040961"},
		{"1082040961000000000", "ns 1082040961"},
		{"99999999999", "s 99999999999"},
		{"2020-02-29", "date 1582934400"},
		{"2020-01-01_10:20:30", "datetime 1577874030"},
		{"2020-01-01T10:20:30", "datetime 1577874030"},
		{"2020-01-01_10:20:30.999", "datetime 1577874030"},
		{"2020-01-01T10:20:30Z", "rfc3339 1577874030"},
		{"2020-01-01T10:20:30.5+02:00", "rfc3339 1577866830"},
		{"2020-01-01_10:20:30+02:00", "rfc3339 1577866830"},
		{"1969-12-31T23:59:58.5Z", "rfc3339 -2"},
		{"2020-01-01 2020-01-02 1082040961", "date 1577836800 1577923200 bad"},
		{"2020-01-01 2021-02-29", "date 1577836800 bad"},
		{"2020-01-01 2020-13-01", "date 1577836800 bad"},
		{"0 0 1082040961000", "ms 0 0 1082040961"},
		{"-1082040961500 1082040961000 1082040961000", "ms -1082040962 1082040961 1082040961"},
	} {
		text := "source,target,time\n"
		for _, at := range strings.Fields(c.times) {
			text += "1,2," + strings.ReplaceAll(at, "_", " ") + "\n"
		}
		l, err := NewReader(strings.NewReader(text), Options{Name: "a.csv"})
		if err != nil {
			t.Fatal(err)
		}
		got := l.Times.String()
		for e, err := range l.Edges() {
			if err != nil {
				got += " bad"
			} else {
				got += " " + show1(Token{Int: e.Time, IsInt: true})
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.times, got, c.want)
		}
	}
}

// Times in every format are read as by package time.
func TestTimesComeBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.Int64Range(-62135596800, 253402300799).Draw(t, "seconds") // the years 1 to 9999
		at := time.Unix(want, 0).UTC()
		zone := time.FixedZone("", 60*rapid.IntRange(-12*60, 12*60).Draw(t, "zone"))
		for f, text := range map[TimeFormat]string{
			RFC3339: at.In(zone).Format(time.RFC3339), DateTime: at.Format(time.DateTime), Seconds: show1(Token{Int: want, IsInt: true}),
		} {
			if local := at.In(zone).Year(); f == RFC3339 && (local < 1 || local > 9999) {
				continue
			}
			if got, ok := f.parse([]byte(text)); !ok || got != want {
				t.Fatalf("%s as %v: %d, %v, want %d", text, f, got, ok, want)
			}
			if f != Seconds && timeFormatOf([]byte(text)) != f {
				t.Fatalf("%s is taken for %v, want %v", text, timeFormatOf([]byte(text)), f)
			}
		}
		day := want - ((want%86400)+86400)%86400
		if got, ok := Date.parse([]byte(at.Format(time.DateOnly))); !ok || got != day {
			t.Fatalf("%v: %d, %v, want %d", at, got, ok, day)
		}
	})
}

// A blank between a date and a time does not separate columns of a table, whatever the name of the file.
func TestReadTimesWithABlank(t *testing.T) {
	t.Parallel()
	for _, sep := range []string{",", ";", "|", "\t"} {
		line := strings.Join([]string{"ann", "tea", "2020-01-01 10:20:30"}, sep) + "\n"
		if got, want := describe(line+line, Options{}), `src,dst,time in datetime; "ann">"tea" t=1577874030; "ann">"tea" t=1577874030`; got != want {
			t.Errorf("%q: %s, want %s", line, got, want)
		}
	}
}

// Times in arrays and matrices are converted from their unit too.
func TestReadTimesOfArrays(t *testing.T) {
	t.Parallel()
	market := "%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 2 1082040961500\n"
	array := string(npyFile("<i8", false, "(1, 3)", []byte{1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0xdc, 0x5, 0, 0, 0, 0, 0, 0}))
	for _, c := range []struct {
		text string
		o    Options
		want string
	}{
		{market, Options{Columns: SrcDstTime, Times: Milliseconds}, "src,dst,time in ms; 1>2 t=1082040961"},
		{market, Options{Columns: SrcDstTime}, "src,dst,time in s; 1>2 t=1082040961500"},
		{array, Options{Columns: SrcDstTime, Times: Milliseconds}, "src,dst,time in ms; 1>2 t=1"},
		{array, Options{Times: Date}, "edgelist: times date are of text, this is npy"},
		{"1 2\n", Options{Times: 99}, "edgelist: unknown times 99"},
	} {
		if got := describe(c.text, c.o); got != c.want {
			t.Errorf("%+v: %s, want %s", c.o, got, c.want)
		}
	}
}
