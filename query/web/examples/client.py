"""A client of kith over HTTP, with Python's standard library, and the loop choose, reward, predict.

    kith serve social.kith --write --token-file token
    python3 client.py http://127.0.0.1:7331 token
"""

import json
import sys
import urllib.error
import urllib.request


class Error(Exception):
    """An error of a request. Its kind is a word such as not_found, exists or input, or None; status is that of HTTP: 404 for
    what does not exist, 409 for what exists or has happened already, 422 for what cannot be carried out."""

    def __init__(self, status, error):
        super().__init__(error["text"])
        self.status, self.kind = status, error.get("kind")


class Kith:
    """Sends requests. The nodes 7 and "7" are two nodes. If the connection breaks, a request that writes may have been
    carried out: all may be sent again, except choose, which makes another decision, and observe without an id."""

    def __init__(self, url, token=None, timeout=60):
        self.url, self.token, self.timeout = url.rstrip("/"), token, timeout

    def predict(self, source, **more):
        return self.post("/predict", source=source, **more)

    def choose(self, source, **more):
        return self.post("/choose", source=source, **more)

    def reward(self, decision, **more):
        return self.post("/reward", decision=decision, **more)

    def observe(self, source, target, reward, **more):
        return self.post("/observe", source=source, target=target, reward=reward, **more)

    def why(self, source, target, **more):
        return self.post("/why", source=source, target=target, **more)

    def put_nodes(self, nodes, create=False):
        return self.post("/nodes", nodes=nodes, create=create)

    def put_edges(self, edges, create=False):
        return self.post("/edges", edges=edges, create=create)

    def post(self, path, **members):
        """Sends a request and returns its answer."""
        with self.send(path, members) as answer:
            return json.load(answer)

    def run(self, statement, *parameters):
        """Runs a statement, with a parameter for each ?, and returns its rows as dicts."""
        with self.send("/query", {"statement": statement, "parameters": parameters}) as answer:
            lines = [json.loads(line) for line in answer]
        if "error" in lines[-1]:
            raise Error(200, lines[-1]["error"])
        if "rows" not in lines[-1]:
            raise OSError("the answer is incomplete")
        columns = lines[0]["columns"]
        return [dict(zip(columns, map(value, line["row"]))) for line in lines if "row" in line]

    def send(self, path, members):
        """Sends a request and returns its answer as a file."""
        request = urllib.request.Request(self.url + path, headers={"Content-Type": "application/json"})
        request.data = json.dumps(members).encode()
        if self.token:
            request.add_header("Authorization", "Bearer " + self.token)
        try:
            return urllib.request.urlopen(request, timeout=self.timeout)
        except urllib.error.HTTPError as e:
            raise Error(e.code, json.load(e)["error"]) from None


def value(v):
    """A node among other values is {"key": k}. None is absent or, for an error, unknown."""
    return v["key"] if isinstance(v, dict) else v


def main(url, token_file):
    with open(token_file) as f:
        kith = Kith(url, f.read().strip())
    liked = {"ann": ["tea"], "bob": ["tea", "milk"], "cid": ["milk", "rum"], "dan": ["rum"]}
    kith.put_edges([{"source": source, "target": target} for source, targets in liked.items() for target in targets])
    try:
        kith.run("CREATE MODEL drinks USING prb")
    except Error as e:
        if e.status != 409:
            raise
    question = {"source": "ann", "candidates": ["milk", "rum"], "model": "drinks"}
    for _ in range(20):
        menu = kith.choose(**question, places=2)
        for choice in menu["places"]:  # here a program shows the menu to a person, and waits for a click
            if choice["target"] == "milk":
                kith.reward(menu["decision"], place=choice["place"], reward=1, examined="above")
    kith.observe("ann", "rum", 0, model="drinks", id="ann sent the rum back")
    for link in kith.predict(**question)["links"]:
        print(f"{link['rank']}. {link['target']}: score {link['score']:.3f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
