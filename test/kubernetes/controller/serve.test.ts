/** Tests of the HTTPS server of the controller: which requests it refuses, and in which words. */
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { text as readText } from "node:stream/consumers";
import { expect, test } from "vitest";
import { Identification } from "../../../runtime/job/kubernetes/controller/identify.js";
import { serverCertificate } from "../../../runtime/job/kubernetes/controller/own-certificate.js";
import { DeniedError, type Provisions } from "../../../runtime/job/kubernetes/controller/provisions.js";
import { makeServer } from "../../../runtime/job/kubernetes/controller/serve.js";
import { authority, listening } from "./https-server.js";

const id = "11111111-2222-3333-4444-555555555555";
const path = `/v1/provisions/${id}`;
const username = "system:serviceaccount:research:default";
const extra = {
  "authentication.kubernetes.io/pod-name": ["train-0"],
  "authentication.kubernetes.io/pod-uid": ["u1"],
};

interface Script {
  /** Denies what is asked for. */
  readonly denied?: string;
  /** Whether the provisions of an earlier controller have not been restored. */
  readonly isStarting?: boolean;
  /** The time in ms at which the token expires, and the clock. */
  readonly expires?: number;
  readonly now?: () => number;
}

/** Starts a server whose cluster and provisions answer as the script says. */
async function server({ denied, isStarting = false, expires = 1, now = () => 0 }: Script = {}) {
  const called: unknown[] = [];
  const identification = new Identification(
    {
      reviewToken: async (token) => (token === "good" && now() < expires ? { username, extra } : undefined),
      pod: async () => ({ metadata: { name: "train-0", uid: "u1", labels: { "viceroy/job": "train" } } }) as never,
    },
    now,
  );
  const job = {
    lost: (told: unknown) => called.push(told),
    end: async (reason: string) => called.push(reason),
    renew: () => {},
    state: { now: { version: "a.1", hosts: [], events: [] }, after: async () => ({ version: "a.2" }) },
  };
  const provisions = {
    find: (_: unknown, asked: string) => (asked === id ? job : undefined),
    grant: async (_: unknown, asked: unknown) => {
      if (denied !== undefined) throw new DeniedError(denied);
      called.push(asked);
      return { id };
    },
  } as unknown as Provisions;
  const parts = { identification, provisions: () => (isStarting ? undefined : provisions), log: () => {} };
  const url = await listening(makeServer({ ...serverCertificate(authority), ...parts }));
  return { called, ask: asking(url) };
}

function asking(url: string) {
  return async (method: string, at: string, body: string | Buffer = "", token = "good") => {
    const headers = { authorization: `Bearer ${token}` };
    const sent = request(`${url}${at}`, { method, headers, rejectUnauthorized: false, agent: false });
    sent.on("error", () => {}).end(body);
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    return { status: response.statusCode, ...(JSON.parse(await readText(response)) as object) };
  };
}

test.each<[string, string, string | Buffer, number, string]>([
  ["GET", "/", "", 404, "there is nothing at /"],
  ["GET", "/metrics", "", 404, "there is nothing at /metrics"],
  ["POST", "/v1/provisionsfoo", "{}", 404, "there is nothing at /v1/provisionsfoo"],
  ["DELETE", `${path}/more`, "", 404, `there is nothing at ${path}/more`],
  ["GET", `/v1/provisions/${"a".repeat(65)}`, "", 404, `there is nothing at /v1/provisions/${"a".repeat(65)}`],
  [
    "GET",
    "/v1/provisions/other",
    "",
    404,
    'the pod "train-0" has no hosts of the id other; they have ended, or belong to another pod',
  ],
  ["GET", "/v1/provisions", "", 405, "expected POST, got GET"],
  ["PUT", path, "{}", 405, "expected GET or DELETE, got PUT"],
  ["DELETE", `${path}/lost`, "", 405, "expected POST, got DELETE"],
  ["POST", "/v1/provisions", Buffer.alloc(65_537, " "), 413, "a request has at most 65536 bytes"],
  ["POST", `${path}/lost`, Buffer.alloc(65_537, " "), 413, "a request has at most 65536 bytes"],
  ["POST", "/v1/provisions", "", 400, "the request is not JSON: Unexpected end of JSON input"],
])("%s %s is refused", async (method, at, body, status, error) => {
  const { ask, called } = await server();
  expect(await ask(method, at, body)).toEqual({ status, error });
  expect(called).toEqual([]);
});

const mesh = { hosts: 1, image: "node:22" };
test.each<[object | null, string]>([
  [{ meshes: {}, lostTimeout: 0 }, "cannot make a job: expected 1 to 16 meshes, got 0"],
  [{ meshes: [], lostTimeout: 0 }, "cannot make a job: expected meshes as an object"],
  [{ meshes: { a: mesh } }, "cannot make a job: expected lostTimeout from 0 to 604800000 ms"],
  [{ meshes: { a: mesh }, lostTimeout: 604_800_001 }, "cannot make a job: expected lostTimeout from 0 to 604800000 ms"],
  [
    { meshes: { a: { hosts: 1, image: { base: "node:22" } } }, lostTimeout: 0 },
    'cannot make a job: expected image of mesh "a" as the name of a container image',
  ],
  [{ meshes: { a: null }, lostTimeout: 0 }, 'cannot make a job: expected mesh "a" as an object, got null'],
])("a request that is not as it must be is refused: %j", async (body, error) => {
  const { ask, called } = await server();
  expect(await ask("POST", "/v1/provisions", JSON.stringify(body))).toEqual({ status: 400, error });
  expect(called).toEqual([]);
});

test("a controller that starts asks for patience, and says that it lives", async () => {
  const { ask } = await server({ isStarting: true });
  expect(await ask("POST", "/v1/provisions", "{}")).toEqual({ status: 503, error: "the controller starts; ask again" });
  expect(await ask("GET", "/healthz")).toEqual({ status: 200 });
});

test("a denial is told in the words of the rule", async () => {
  const { ask } = await server({ denied: "no rule applies" });
  const body = JSON.stringify({ meshes: { a: mesh }, lostTimeout: 0 });
  expect(await ask("POST", "/v1/provisions", body)).toEqual({ status: 403, error: "no rule applies" });
});

test("a token is accepted until it has expired, and 20 s longer by a controller that knows it", async () => {
  let now = 0;
  const { ask } = await server({ expires: 1000, now: () => now });
  const body = JSON.stringify({ meshes: { a: mesh }, lostTimeout: 0 });
  expect(await ask("POST", "/v1/provisions", body)).toEqual({ status: 201, id });
  now = 20_001;
  expect(await ask("POST", "/v1/provisions", body)).toEqual({
    status: 401,
    error:
      'the API server does not accept the token for the audience "viceroy-controller": it has expired, or is for somebody else',
  });
});

test("a pod asks for the state of its hosts, tells of lost ones, and ends them", async () => {
  const { ask, called } = await server();
  expect(await ask("GET", `${path}?after=a.1`)).toEqual({ status: 200, version: "a.2" });
  expect(await ask("POST", `${path}/lost`, '{"mesh":"a"}')).toEqual({ status: 200 });
  expect(await ask("DELETE", path)).toMatchObject({ status: 200, version: "a.1" });
  expect(called).toEqual([{ mesh: "a" }, "the program that has asked for it has released it"]);
});
