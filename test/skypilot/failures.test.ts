/** Tests of what the client of SkyPilot says and does when its API server is away, another one, or hostile. */

import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { expect, test } from "vitest";
import { findAccess } from "../../runtime/job/skypilot/api/access.js";
import { SkyPilotApi } from "../../runtime/job/skypilot/api/skypilot-api.js";
import { answerJson, answerResult, current, scriptedServer } from "./lab/scripted-server.js";

const advice = 'start one with "sky api start", or name another one with SKYPILOT_API_SERVER_ENDPOINT';

/** Returns an address at which nothing listens. */
async function closedPort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `127.0.0.1:${port}`;
}

test("without an API server, the error says how to start one, at once", async () => {
  const at = await closedPort();
  const api = new SkyPilotApi(await findAccess(`http://${at}`, { env: {}, home: "/nowhere", cwd: "/", now: 0 }));
  await expect(api.health()).rejects.toThrow(
    `cannot use SkyPilot: the SkyPilot API server at http://${at} does not answer: connect ECONNREFUSED ${at}; ${advice}`,
  );
});

test("a server of another kind is not taken for one of SkyPilot", async () => {
  const { api, url } = await scriptedServer((_request, response) => response.end("<html>hello</html>"));
  await expect(api.health()).rejects.toThrow(
    `cannot use SkyPilot: the SkyPilot API server at ${url} answers as another kind of server`,
  );
});

test("an API server that does not work is not used", async () => {
  const { api, url } = await scriptedServer((_request, response) => answerJson(response, { status: "unhealthy" }));
  await expect(api.health()).rejects.toThrow(
    `cannot use SkyPilot: the SkyPilot API server at ${url} answers that it is "unhealthy"`,
  );
});

test("an API server that is too old is named with both versions, for every request", async () => {
  const old = { ...current, "x-skypilot-api-version": "23", "x-skypilot-version": "0.10.5" };
  const { api, url } = await scriptedServer((_request, response) =>
    answerJson(response, { status: "healthy" }, 200, old),
  );
  const reason =
    `the SkyPilot API server at ${url} is SkyPilot 0.10.5, whose API has version 23, ` +
    "and Viceroy needs SkyPilot 0.11.0 or newer, whose API has version 24; upgrade the server";
  await expect(api.health()).rejects.toThrow(`cannot use SkyPilot: ${reason}`);
  await expect(api.validate("run: echo")).rejects.toThrow(`cannot validate a task of SkyPilot: ${reason}`);
});

test("an API server from before versions were in headers is too old", async () => {
  const { api, url } = await scriptedServer((_request, response) =>
    response.end(JSON.stringify({ status: "healthy", api_version: "11", version: "0.9.3" })),
  );
  await expect(api.health()).rejects.toThrow(
    `cannot use SkyPilot: the SkyPilot API server at ${url} answers as SkyPilot 0.9.3, which is too old: upgrade it`,
  );
});

test("an API server that does not answer clients of this age any more says so itself", async () => {
  const said = "\u001b[33mYour SkyPilot client version is too old:0.14.1\n\u001b[0mThe server is running on 0.20.0.";
  const { api, url } = await scriptedServer((_request, response) =>
    answerJson(response, { error: "version_mismatch", message: said }, 400, { "x-skypilot-api-version": "99" }),
  );
  await expect(api.health()).rejects.toThrow(
    `cannot use SkyPilot: the SkyPilot API server at ${url} does not answer clients of SkyPilot 0.14.1 any more, as which Viceroy asks: ` +
      "Your SkyPilot client version is too old:0.14.1 The server is running on 0.20.0.; use a newer Viceroy, or an older API server",
  );
});

test("a newer API server that answers is used", async () => {
  const newer = { ...current, "x-skypilot-api-version": "99", "x-skypilot-version": "0.20.0" };
  const { api } = await scriptedServer((_request, response) =>
    answerJson(response, { status: "healthy", user: { id: "1", name: "ada" } }, 200, newer),
  );
  expect(await api.health()).toEqual({ api: 99, release: "0.20.0", user: "ada" });
});

test("a proxy that wants a login is not followed, so that no credentials go to another address", async () => {
  const { api, url } = await scriptedServer((_request, response) =>
    response.writeHead(302, { location: "https://login.example/oauth2" }).end(),
  );
  await expect(api.health()).rejects.toThrow(
    `cannot use SkyPilot: the SkyPilot API server at ${url} leads to "https://login.example/oauth2" instead of an answer; ` +
      `log in with "sky api login -e ${url}", or name the other address with SKYPILOT_API_SERVER_ENDPOINT`,
  );
});

test("an API server that wants credentials says how to get them", async () => {
  const { api, url } = await scriptedServer((_request, response) =>
    answerJson(response, "Authentication required", 401),
  );
  await expect(api.health()).rejects.toThrow(
    `cannot use SkyPilot: the SkyPilot API server at ${url} wants credentials, and there are none: Authentication required; ` +
      `log in with "sky api login -e ${url}", or set SKYPILOT_SERVICE_ACCOUNT_TOKEN`,
  );
});

test("a request with wrong fields is refused by their names", async () => {
  const { api } = await scriptedServer((_request, response) =>
    answerJson(response, { detail: [{ type: "missing", loc: ["body", "dag"], msg: "Field required" }] }, 422),
  );
  await expect(api.validate("")).rejects.toThrow(
    "cannot validate a task of SkyPilot: SkyPilot says: body.dag: Field required",
  );
});

test("the page of a proxy is shown by its title", async () => {
  const { api } = await scriptedServer((_request, response) =>
    response.writeHead(500).end("<html><head><title>Internal Server Error</title></head></html>"),
  );
  await expect(api.validate("")).rejects.toThrow("SkyPilot says: Internal Server Error");
});

test("an API server that is busy is asked again after growing pauses, also for a launch", async () => {
  const { api, pauses } = await scriptedServer((request, response, attempt) => {
    if (attempt < 4)
      answerJson(response, { detail: "too many workers" }, 503, attempt === 3 ? { "retry-after": "20" } : {});
    else answerJson(response, null, 200, { "x-skypilot-request-id": `r-${request.url!.slice(1)}` });
  });
  expect(await api.launch({ cluster: "crew", task: "run: echo", retryUntilUp: false })).toBe("r-launch");
  expect(pauses).toEqual([250, 500, 1000, 20_000]);
});

test("an API server that stays busy is given up after ten minutes, with its words", async () => {
  const { api, url, pauses } = await scriptedServer((_request, response) =>
    answerJson(response, { detail: "too many workers" }, 503),
  );
  await expect(api.launch({ cluster: "crew", task: "run: echo", retryUntilUp: false })).rejects.toThrow(
    `cannot launch cluster "crew": the SkyPilot API server at ${url} is not available for now: too many workers`,
  );
  expect(pauses.reduce((sum, ms) => sum + ms, 0)).toBeLessThanOrEqual(600_000);
  expect(pauses.at(-1)).toBe(10_000);
});

test("a launch whose answer is lost is not sent a second time", async () => {
  const { api, asked } = await scriptedServer((request) => request.socket.destroy());
  await expect(api.launch({ cluster: "crew", task: "run: echo", retryUntilUp: false })).rejects.toThrow(
    'cannot launch cluster "crew": the SkyPilot API server at ',
  );
  expect(asked).toEqual(["POST /launch"]);
});

test("requests that can be repeated outlive lost connections, and each loss is told", async () => {
  const told: string[] = [];
  const { api, asked } = await scriptedServer((request, response, attempt) => {
    if (attempt === 0) request.socket.destroy();
    else if (request.url === "/down") answerJson(response, null);
    else answerResult(response, null);
  });
  await api.down("crew", { onAway: ({ message }) => told.push(message) });
  expect(asked).toEqual(["POST /down", "POST /down", "GET /api/get?request_id=r-1", "GET /api/get?request_id=r-1"]);
  expect(told).toHaveLength(2);
});

test("a log stream that breaks off goes on after the last line that was told", async () => {
  const lines = ["one\n", "two\n", "three\n", "four\n"];
  const { api } = await scriptedServer((request, response, attempt) => {
    if (request.url!.startsWith("/api/get")) answerResult(response, "done");
    else {
      response.writeHead(200, current);
      const known = lines.slice(0, 2 * (attempt + 1)).join("");
      if (attempt === 1) response.end(known);
      else response.write(known, () => request.socket.destroy());
    }
  });
  const told: string[] = [];
  expect(await api.requests.follow("r-1", "test", { onLine: ({ text }) => told.push(text) })).toBe("done");
  expect(told).toEqual(["one", "two", "three", "four"]);
});

test("a state that SkyPilot repeats is told once", async () => {
  const state = (text: string) => `<sky-payload>"<rich_update>${text}</rich_update>"</sky-payload>\n`;
  const { api } = await scriptedServer((request, response) => {
    if (request.url!.startsWith("/api/get")) answerResult(response, "done");
    else response.writeHead(200, current).end(["a", "a", "b", "a"].map(state).join(""));
  });
  const told: string[] = [];
  await api.requests.follow("r-1", "test", { onLine: ({ text }) => told.push(text) });
  expect(told).toEqual(["a", "b", "a"]);
});

test("an aborted signal ends the wait for a request, and does not cancel it", async () => {
  const leaving = new AbortController();
  const { api, asked } = await scriptedServer(() => leaving.abort(new Error("the driver leaves")));
  await expect(api.requests.follow("r-1", "test", { signal: leaving.signal })).rejects.toThrow("the driver leaves");
  expect(asked).toEqual(["GET /api/get?request_id=r-1"]);
});

test("a result that is not there yet is asked for again", async () => {
  const { api } = await scriptedServer((_request, response, attempt) =>
    answerResult(response, attempt, attempt < 2 ? "WAITING" : "SUCCEEDED"),
  );
  expect(await api.requests.follow("r-1", "test")).toBe(2);
});

test("an answer that is too large is not read to its end", async () => {
  const { api, url } = await scriptedServer((_request, response) => {
    response.writeHead(200, current);
    const write = () => {
      while (!response.destroyed && response.write(Buffer.alloc(1 << 20)));
      if (!response.destroyed) response.once("drain", write);
    };
    write();
  });
  await expect(api.health()).rejects.toThrow(
    `cannot use SkyPilot: the SkyPilot API server at ${url} answers more than 16777216 bytes`,
  );
});

test("an API server that goes silent within an answer counts as gone", async () => {
  const { exchange, url } = await scriptedServer((_request, response) => {
    response.writeHead(200, current).write("{");
  });
  await expect(exchange.ask({ method: "GET", path: "/x", what: "test", silence: 50 })).rejects.toThrow(
    `cannot test: the SkyPilot API server at ${url} does not answer: nothing has come for 50 ms; ${advice}`,
  );
});

test.each([
  ["no id", undefined],
  ["an id that is no id", "a b"],
])("a request that gets %s is not followed", async (_name, id) => {
  const { api, url } = await scriptedServer((_request, response) => {
    const { "x-skypilot-request-id": _, ...headers } = current;
    response.writeHead(200, id === undefined ? headers : { ...headers, "x-skypilot-request-id": id }).end("null");
  });
  await expect(api.down("crew")).rejects.toThrow(
    `cannot take cluster "crew" down: the SkyPilot API server at ${url} answers without the id of the request`,
  );
});

test.each([
  ["text", "[", "with something that is no request"],
  ["a list", "[]", "with something that is no request"],
  ["no list of clusters", JSON.stringify({ status: "SUCCEEDED", return_value: "{}" }), "with no list of clusters"],
  [
    "a cluster in no state",
    JSON.stringify({ status: "SUCCEEDED", return_value: JSON.stringify([{ name: "crew", status: "?" }]) }),
    "with no list of clusters",
  ],
])("a result that is %s is an error, not a state", async (_name, body, words) => {
  const { api } = await scriptedServer((request, response) => {
    response.writeHead(200, current).end(request.method === "POST" ? "null" : body);
  });
  await expect(api.cluster("crew", false)).rejects.toThrow(words);
});

test("a cluster is read from its plain fields", async () => {
  const cluster = {
    name: "crew",
    status: "INIT",
    cluster_hash: "abc",
    nodes: 2,
    cloud: "Kubernetes",
    region: "lab",
    autostop: 5,
    to_down: true,
    init_status_reason: "Launching (1 pod pending)",
    handle: "gASV",
  };
  const { api } = await scriptedServer((request, response) =>
    request.method === "POST" ? answerJson(response, null) : answerResult(response, [cluster]),
  );
  expect(await api.cluster("crew", true)).toEqual({
    name: "crew",
    status: "INIT",
    hash: "abc",
    nodes: 2,
    cloud: "Kubernetes",
    region: "lab",
    autostop: 5,
    autodown: true,
    reason: "Launching (1 pod pending)",
  });
});

test.each([
  ["no list", {}],
  ["a job without an id", [{ job_name: "crew", status: "RUNNING" }]],
  ["a job in a state that is not known", [{ job_id: 1, job_name: "crew", status: "DREAMING" }]],
  ["something else", [null]],
])("a list of jobs that has %s is an error", async (_name, value) => {
  const { api, url } = await scriptedServer((request, response) =>
    request.method === "POST" ? answerJson(response, null) : answerResult(response, value),
  );
  await expect(api.jobs("crew")).rejects.toThrow(
    `cannot list the jobs of cluster "crew": the SkyPilot API server at ${url} answers with no list of jobs`,
  );
});

test("only open requests about the cluster itself are listed", async () => {
  const list = [
    { request_id: "r-1", name: "sky.launch", status: "RUNNING", cluster_name: "crew" },
    { request_id: "r-2", name: "sky.launch", status: "SUCCEEDED", cluster_name: "crew" },
    { request_id: "r-3", name: "sky.launch", status: "PENDING", cluster_name: "crew-2" },
    { request_id: "../r", name: "sky.launch", status: "PENDING", cluster_name: "crew" },
    null,
  ];
  const { api } = await scriptedServer((_request, response) => answerJson(response, list));
  expect(await api.requests.openOf("crew")).toEqual([{ id: "r-1", name: "sky.launch" }]);
});

test("no request is sent to cancel nothing, which SkyPilot could take for everything", async () => {
  const { api, asked } = await scriptedServer((_request, response) => answerJson(response, null));
  await api.requests.cancel([]);
  expect(asked).toEqual([]);
});
