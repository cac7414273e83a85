package query

import (
	"errors"
	"fmt"
	"os"

	"kith/db"
	"kith/model/trial"
)

// stream is how policies are played.
type stream struct {
	protocol trial.Protocol
	rounds   int
	points   int // of a curve
	seed     uint64
	plot     string // file; "": none
}

func (r *run) evaluateStream(s *EvaluateStream) (*Rows, error) {
	how, err := r.streamOptions(s)
	if err != nil {
		return nil, err
	}
	policies, err := r.entrants(s)
	if err != nil {
		return nil, err
	}
	data, err := r.truth(s)
	if err != nil {
		return nil, err
	}
	var entrants []trial.Entrant
	for _, name := range policies {
		entrants = append(entrants, trial.NewEntrant(data, db.ModelSpec{Policy: name}))
	}
	t := trial.Trial{Data: data, Protocol: how.protocol, Rounds: how.rounds}
	if tell := r.session.Progress; tell != nil {
		t.Progress = func(done, total int) { tell(Progress{"rounds", int64(done), int64(total)}) }
	}
	result, err := t.Play(r.ctx, entrants, how.seed)
	if err != nil {
		if r.ctx.Err() == nil {
			err = &Error{Pos: s.Pos, Msg: plainly(err), Err: err}
		}
		return nil, err
	}
	if err := how.draw(&result); err != nil {
		return nil, &Error{Pos: s.Pos, Msg: err.Error(), Err: err}
	}
	return how.rows(&result), nil
}

// rows are the curves, a point of each after the other.
func (how *stream) rows(result *trial.Result) *Rows {
	rows := &Rows{Columns: []string{"policy", "round", "regret", "live"}}
	points := min(how.points, how.rounds)
	for i := range points {
		for _, c := range result.Curves {
			thin := c.Thin(points)
			var live any
			if i == points-1 {
				live = int64(c.Live)
			}
			rows.add(c.Name, int64((i+1)*how.rounds/points), int64(thin.Regret[i]), live)
		}
	}
	rows.note("protocol %s: %d candidates a round, up to %d of them links", how.protocol.Name, how.protocol.Candidates, how.protocol.Positives)
	return rows
}

// draw writes the curves as a picture, if that was asked for.
func (how *stream) draw(result *trial.Result) error {
	if how.plot == "" {
		return nil
	}
	f, err := os.Create(how.plot)
	if err != nil {
		return err
	}
	return errors.Join(result.Plot(f, "Regret, protocol "+how.protocol.Name, "svg"), f.Close())
}

func (r *run) streamOptions(s *EvaluateStream) (*stream, error) {
	how := &stream{protocol: trial.Fresh(), rounds: 1000, points: 10, seed: max(r.seed, 1)}
	for _, o := range s.With {
		if err := r.streamOption(how, o); err != nil {
			return nil, err
		}
	}
	n, err := r.integer(s.Candidates, 2, int64(how.protocol.Candidates))
	how.protocol.Candidates, how.protocol.Positives = int(n), max(1, int(n)/10)
	return how, err
}

func (r *run) streamOption(how *stream, o Option) error {
	fields := map[string]func(int64){
		"rounds": func(n int64) { how.rounds = int(n) },
		"points": func(n int64) { how.points = int(n) },
		"seed":   func(n int64) { how.seed = uint64(n) },
	}
	if set := fields[o.Name]; set != nil {
		n, err := r.integer(o.Value, 1, 0)
		set(n)
		return err
	}
	v, err := r.text(o.Value)
	switch {
	case o.Name != "plot" && o.Name != "protocol":
		return unknownOption(o, []string{"plot", "points", "protocol", "rounds", "seed"})
	case err != nil:
		return err
	case o.Name == "plot":
		how.plot = v
		return nil
	}
	for _, p := range []trial.Protocol{trial.Paper(), trial.Fresh()} {
		if p.Name == v {
			how.protocol = p
			return nil
		}
	}
	return &Error{Pos: o.Value.Position(), Msg: fmt.Sprintf("protocol = %s (accepted: fresh, paper)", v), Err: db.ErrInput}
}

// entrants are the policies that play, the one that is evaluated first.
func (r *run) entrants(s *EvaluateStream) ([]string, error) {
	names := []Name{{Pos: s.Using.Pos, Value: "default"}}
	if s.Using.Value != "" {
		names[0] = s.Using
	}
	baselines := s.Baselines
	if baselines == nil {
		for _, n := range []string{"ppr", "adamic_adar", "common_neighbors", "random"} {
			baselines = append(baselines, Name{Value: n})
		}
	}
	var policies []string
	seen := map[string]bool{}
	for _, n := range append(names, baselines...) {
		if err := db.CheckPolicy(n.Value); err != nil {
			return nil, r.refused(n.Pos, n.Value, err, db.Policies())
		}
		if !seen[n.Value] {
			policies = append(policies, n.Value)
		}
		seen[n.Value] = true
	}
	return policies, nil
}

// truth reads the links that are to be found.
func (r *run) truth(s *EvaluateStream) (data *trial.Data, err error) {
	if s.File == nil {
		err = r.view(func(tx *db.Tx) (err error) {
			data, err = links(tx)
			return err
		})
		return data, err
	}
	name, err := r.text(s.File)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, &Error{Pos: s.File.Position(), Msg: err.Error(), Err: err}
	}
	defer f.Close() // read only
	aside, err := r.session.DB.Aside()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, aside.Close()) }()
	if _, err := aside.Load(r.ctx, f, db.LoadOptions{}); err != nil {
		return nil, r.positioned(s.File.Position(), fmt.Errorf("%s: %w", name, err))
	}
	err = aside.View(r.ctx, func(tx *db.Tx) (err error) {
		data, err = links(tx)
		return err
	})
	return data, err
}

// links numbers the nodes of a graph and lists its links.
func links(tx *db.Tx) (*trial.Data, error) {
	ids := map[db.Key]trial.ID{}
	for n, err := range tx.Nodes() {
		if err != nil {
			return nil, err
		}
		ids[n.Key] = trial.ID(len(ids))
	}
	var all [][2]trial.ID
	for e, err := range tx.Edges() {
		if err != nil {
			return nil, err
		}
		all = append(all, [2]trial.ID{ids[e.Src], ids[e.Dst]})
	}
	return trial.NewData(len(ids), all, nil)
}
