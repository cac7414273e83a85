package edgelist

import (
	"math/big"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestTimeFormatText(t *testing.T) {
	t.Parallel()
	for f := AnyTime; f <= RFC2822; f++ {
		var got TimeFormat
		if err := got.UnmarshalText([]byte(f.String())); err != nil || got != f {
			t.Errorf("%v: got %v, %v", f, got, err)
		}
	}
	if err := new(TimeFormat).UnmarshalText([]byte("minutes")); err == nil || !strings.Contains(err.Error(), "s, ms, us, ns, rfc3339, datetime, date, year, rfc2822") {
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
		{"1.7e9 1700000000.999 0.0", "s 1700000000 1700000000 0"},
		{"-0.5 -1.0 -1700000000.25 -0.0 .5 1.", "s -1 -1 -1700000001 0 0 1"},
		{"1700000000999.75", "ms 1700000000"},
		{"1700000000.99999999999999999999", "s 1700000000"},
		{"253402300799 253402300800 -62167219200000 -62167219200001", "ms 253402300 253402300 -62167219200 bad"},
		{"1 1 1 1 253402300799 253402300800 -62167219200 -62167219201", "s 1 1 1 1 253402300799 bad -62167219200 bad"},
		{"1700000000 1700000000000 1e30 9223372036854775808", "s 1700000000 bad bad bad"},
		{"1 NaN nan null NULL None \\N NA", "s 1 0 0 0 0 0 0 0"},
		{"2020-02-29 NaT 0 0.0", "date 1582934400 0 0 bad"},
		{"2020-02-29", "date 1582934400"},
		{"2020/02/29 2020/2/9 2020.02.29 20200229", "date 1582934400 1581206400 1582934400 1582934400"},
		{"20040301 20040302", "date 1078099200 1078185600"},
		{"20040301 20041301", "s 20040301 20041301"},
		{"20040301102030", "datetime 1078136430"},
		{"2020-01-01_10:20", "datetime 1577874000"},
		{"2020/01/01_10:20:30.5 2020-01-01", "datetime 1577874030 1577836800"},
		{"2020-01-01T10:20Z 2020-01-01_10:20:30+02 2020-01-01T10:20:30+0200 2020-01-01T10:20:30-02:30", "rfc3339 1577874000 1577866830 1577866830 1577883030"},
		{"2020-01-01_10:20:30_UTC 2020-01-01T10:20:30.123456_+00:00", "rfc3339 1577874030 1577874030"},
		{"2016-12-31T23:59:60Z", "rfc3339 1483228800"},
		{"\"Wed,_01_Jan_2020_10:20:30_+0200\" \"Wed,_1_Jan_2020\"", "rfc2822 1577866830 1577836800"},
		{"Wed_Jan__1_10:20:30_+0000_2020 Wed_Jan_01_10:20:30_2020 Wed_Jan_01_10:20:30_EST_2020", "rfc2822 1577874030 1577874030 bad"},
		{"01/Jan/2020:10:20:30_-0700 1_January_2020 \"Jan_1,_2020\"", "rfc2822 1577899230 1577836800 1577836800"},
		{"2020-01-01T25:00:00Z 2020-01-01T10:60:00Z 2020-01-01T10:20:30+24 2020-01-01T10:20:30+02:60 2020-01-01x 2020-01/01 01/02/2020", "s bad bad bad bad bad bad bad"},
		{"0000-01-01 9999-12-31 0000-01-01T00:00:00+01 9999-12-31T23:00:00-02", "date -62167219200 253402214400 bad bad"},
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

// A blank between a date and a time does not separate columns of a table, whatever the name of the
// file.
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
		{market, Options{Columns: SrcDstTime}, "src,dst,time in ms; 1>2 t=1082040961"},
		{market, Options{Columns: SrcDstTime, Times: Seconds}, `src,dst,time in s; edgelist: line 3: time is after the year 9999 in seconds since 1970: "1 2 1082040961500"; try times = 'ms'`},
		{array, Options{Columns: SrcDstTime, Times: Milliseconds}, "src,dst,time in ms; 1>2 t=1"},
		{array, Options{Times: RFC3339}, "edgelist: times rfc3339 are of text, this is npy"},
		{string(npyFile("<i8", false, "(1, 3)", elements[int64](1, 2, 1082040961500))), Options{}, "src,dst,time in ms; 1>2 t=1082040961"},
		{string(npyFile("<f8", false, "(1, 3)", elements(1, 2, 1082040961.75))), Options{}, "src,dst,time in s; 1>2 t=1082040961"},
		{string(npyFile("<f8", true, "(3, 1)", elements(1, 2, 1082040961.75))), Options{}, "src,dst,time in s; 1>2 t=1082040961"},
		{string(npyFile("<i4", false, "(1, 3)", elements[int32](1, 2, 20040415))), Options{}, "src,dst,time in date; 1>2 t=1081987200"},
		{string(npyFile("<i4", false, "(1, 3)", elements[int32](1, 2, 2004))), Options{Columns: SrcDstTime, Times: Year}, "src,dst,time in year; 1>2 t=1072915200"},
		{string(npyFile("<i8", false, "(1, 3)", elements[int64](1, 2, 1082040961500))), Options{Columns: SrcDstTime, Times: Seconds},
			`src,dst,time in s; edgelist: line 1: time is after the year 9999 in seconds since 1970: "1 2 1082040961500"; try times = 'ms'`},
		{"1 2\n", Options{Times: 99}, "edgelist: unknown times 99"},
	} {
		if got := describe(c.text, c.o); got != c.want {
			t.Errorf("%+v: %s, want %s", c.o, got, c.want)
		}
	}
}

// A column of years has times if its name says so.
func TestReadYears(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		o    Options
		want string
	}{
		{"source,target,year\n1,2,2001\n1,3,0\n", Options{}, "src=source,dst=target,time=year in year; 1>2 t=978307200; 1>3"},
		{"1 2 2001\n", Options{Columns: SrcDstTime, Times: Year}, "src,dst,time in year; 1>2 t=978307200"},
		{"1 2 10000\n", Options{Columns: SrcDstTime, Times: Year}, `src,dst,time in year; edgelist: line 1: time is not of the form years (year): "1 2 10000"; try times = 's'`},
		{"source,target,time\n1,2,2001\n", Options{}, "src=source,dst=target,time=time in s; 1>2 t=2001"},
	} {
		if got := describe(c.text, c.o); got != c.want {
			t.Errorf("%q: %s, want %s", c.text, got, c.want)
		}
	}
}

// Times that cannot be read are said to be what they are.
func TestTimesThatAreNotRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		o    Options
		want string
	}{
		{"1 2 2024-03-01 12:30:00\n", Options{}, "a date and a time of day are two columns; write them with a T between, or separate the columns by commas or tabs"},
		{"1,2,03/01/2024\n", Options{Columns: SrcDstTime}, "time may begin with the day or with the month; 2006-01-02 begins with the year"},
		{"1,2,soon\n", Options{Columns: SrcDstTime}, "time is neither a number nor a date in a form that is read, such as 2006-01-02"},
		{"1,2,2024-03-01\n1,2,soon\n", Options{}, "time is not of the form 2006-01-02 (date)"},
	} {
		if got := describe(c.text, c.o); !strings.Contains(got, ": "+c.want+": ") {
			t.Errorf("%q: %s, want %s", c.text, got, c.want)
		}
	}
}

func TestParseTime(t *testing.T) {
	t.Parallel()
	const second = 1_000_000_000
	for text, want := range map[string]int64{
		"2004-11-01": 1099267200 * second, "2004-11-01T10:00+01": 1099299600 * second, "2004/11/01 09:00": 1099299600 * second,
		"2004-11-01 00:00:00.25": 1099267200*second + 250_000_000, "2004-11-01T00:00:00,0000000019Z": 1099267200*second + 1,
		"1969-12-31 23:59:59.5": -second / 2, "Mon, 01 Nov 2004 00:00:00 GMT": 1099267200 * second,
	} {
		if got, err := ParseTime(text); err != nil || got.UnixNano() != want || got.Location() != time.UTC {
			t.Errorf("%s: %v, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "now", "7", "0", "2004-13-01", "2026-02-30", "2026-02-03T25:00", "NaN"} {
		if got, err := ParseTime(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}

func TestIsTime(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"2004-11-01": true, "2004-11-01T10:00": true, "2004-11-01 10:00:00.5+02:00": true, "2026-02-30": true, "2004-11-01T99:99Z": true,
		"": false, "2004": false, "20041101": false, "2004/11/01": false, "2004-1-1": false, "2004-11-01x": false, "2004-11-01 is a date": false,
		"2004-11-01T10": false, "2004-11-01 10:00 h": false, "a004-11-01": false, "12004-11-01": false,
	} {
		if got := IsTime(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// A number with any fraction is rounded down as by package math/big.
func TestFractionsAreRoundedDown(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`-?[0-9]{1,10}(\.[0-9]{0,25})?`).Draw(t, "number")
		exact, ok := new(big.Rat).SetString(strings.TrimSuffix(text, "."))
		if !ok {
			t.Fatalf("%q is no number", text)
		}
		want := new(big.Int).Div(exact.Num(), exact.Denom()) // Euclidean division rounds down for a positive divisor
		if got, ok := Seconds.parse([]byte(text)); !ok || got != want.Int64() {
			t.Fatalf("%s: %d, %v, want %v", text, got, ok, want)
		}
	})
}
