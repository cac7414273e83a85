"""A client of kith over HTTP, with Python's standard library, and the loop choose, reward, predict.

    kith serve social.kith --write --token-file token
    python3 client.py http://127.0.0.1:7331 token
"""

import json
import sys
import urllib.error
import urllib.request


class Error(Exception):
    """An error of a statement. Its kind is a word such as not_found, exists or input, or None; status is that of HTTP."""

    def __init__(self, status, error):
        super().__init__(error["text"])
        self.status, self.kind = status, error.get("kind")


class Kith:
    def __init__(self, url, token=None, timeout=60):
        self.url, self.token, self.timeout = url.rstrip("/"), token, timeout

    def run(self, statement, *parameters):
        """Runs a statement, with a parameter for each ?, and returns its rows as dicts. The parameters 7 and "7" are two
        nodes. If the connection breaks, a statement that writes may have been committed: REWARD and MERGE may be sent
        again, OBSERVE may not."""
        request = urllib.request.Request(self.url + "/query", headers={"Content-Type": "application/json"})
        request.data = json.dumps({"statement": statement, "parameters": parameters}).encode()
        if self.token:
            request.add_header("Authorization", "Bearer " + self.token)
        try:
            answer = urllib.request.urlopen(request, timeout=self.timeout)
        except urllib.error.HTTPError as e:
            raise Error(e.code, json.load(e)["error"]) from None
        with answer:
            lines = [json.loads(line) for line in answer]
        if "rows" not in lines[-1]:
            raise OSError("the answer is incomplete")
        columns = lines[0]["columns"]
        return [dict(zip(columns, map(value, line["row"]))) for line in lines if "row" in line]


def value(v):
    """A node among other values is {"key": k}. None is absent or, for an error, unknown."""
    return v["key"] if isinstance(v, dict) else v


def main(url, token_file):
    with open(token_file) as f:
        kith = Kith(url, f.read().strip())
    kith.run("MERGE EDGES 'ann' -> 'tea', 'bob' -> 'tea', 'bob' -> 'milk', 'cid' -> 'milk', 'cid' -> 'rum', 'dan' -> 'rum'")
    try:
        kith.run("CREATE MODEL drinks USING prb")
    except Error as e:
        if e.kind != "exists":
            raise
    for _ in range(20):
        menu = kith.run("CHOOSE 2 LINKS FOR ? AMONG ? USING drinks", "ann", ["milk", "rum"])
        for choice in menu:  # here a program shows the menu to a person, and waits for a click
            if choice["target"] == "milk":
                kith.run("REWARD ? PLACE ? = 1 WITH (examined = above)", choice["decision"], choice["place"])
    for link in kith.run("PREDICT LINKS FOR ? AMONG ? USING drinks", "ann", ["milk", "rum"]):
        print(f"{link['rank']}. {link['target']}: score {link['score']:.3f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
