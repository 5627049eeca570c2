/** Tests of requests to the API server: what is sent, what is read, and what a user is told about a refusal. */
import { writeFileSync } from "node:fs";
import { afterEach, expect, test } from "vitest";
import type { WatchEvent } from "../../../runtime/job/kubernetes/api/kubernetes-api.js";
import { KubernetesError } from "../../../runtime/job/kubernetes/api/kubernetes-error.js";
import { type Answer, answerJson, configText, refuse, type ScriptedServer, scriptedServer } from "./scripted-server.js";

const started: ScriptedServer[] = [];
afterEach(async () => {
  for (const server of started.splice(0)) await server.close();
});

async function start(answer: Answer): Promise<ScriptedServer> {
  const server = await scriptedServer(answer);
  started.push(server);
  return server;
}

const signal = new AbortController().signal;

test("a missing permission is named with its verb, its resource and the command that prints the Role", async () => {
  const said = 'pods is forbidden: User "alice" cannot list resource "pods" in API group "" in the namespace "lab"';
  const server = await start((_, response) => refuse(response, 403, "Forbidden", said));
  const api = await server.open();
  await expect(api.list("Pod")).rejects.toThrow(
    `user "alice" of context "work" may not list pods in namespace "lab": ${said}; "viceroy job rbac" prints the Role that it needs`,
  );
});

test("a refusal of what was allowed before passes, because an API server that starts refuses until it has read the Roles", async () => {
  const said = 'pods is forbidden: User "alice" cannot list resource "pods" in API group "" in the namespace "lab"';
  let isStarting = true;
  const server = await start((_, response) => {
    if (isStarting) refuse(response, 403, "Forbidden", said);
    else answerJson(response, { items: [], metadata: { resourceVersion: "7" } });
  });
  const api = await server.open();
  const refusal = async () => {
    const error = await api.list("Pod").catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(KubernetesError);
    return error as KubernetesError;
  };
  expect(await refusal()).toMatchObject({ status: 403, isTransient: false });
  isStarting = false;
  await api.list("Pod");
  isStarting = true;
  expect(await refusal()).toMatchObject({ status: 403, isTransient: true });
});

test("a namespace that is being deleted is no missing permission", async () => {
  const said =
    'configmaps "x" is forbidden: unable to create new content in namespace lab because it is being terminated';
  const server = await start((_, response) => refuse(response, 403, "Forbidden", said));
  const api = await server.open();
  await expect(api.apply({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x" } })).rejects.toThrow(
    `cannot patch configmaps "x" in namespace "lab": ${said}; wait until it is gone and make it again, or name another one`,
  );
});

test("credentials that were renewed meanwhile are read again, so that the request succeeds", async () => {
  const server = await start((request, response) => {
    if (request.headers.authorization === "Bearer second") answerJson(response, { metadata: { name: "x" } });
    else refuse(response, 401, "Unauthorized", "Unauthorized");
  });
  const api = await server.open();
  server.useToken("second");
  expect(await api.get("ConfigMap", "x")).toEqual({ metadata: { name: "x" } });
  expect(server.asked).toHaveLength(2);
});

test("credentials that are not accepted are an error that says whose they are, and what to do", async () => {
  const server = await start((_, response) => refuse(response, 401, "Unauthorized", "Unauthorized"));
  const api = await server.open();
  await expect(api.list("Pod")).rejects.toThrow(
    `the API server at ${server.url} does not accept the credentials of user "alice" of context "work": Unauthorized; they may ` +
      "have expired: log in to the cluster again",
  );
});

test("an API server that does not answer is named, and another attempt may succeed", async () => {
  const server = await start(() => {});
  const api = await server.open();
  await server.close();
  const error = await api.list("Pod").catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(KubernetesError);
  expect((error as KubernetesError).isTransient).toBe(true);
  expect((error as KubernetesError).message).toMatch(
    /^cannot list pods in namespace "lab": the API server at http:\/\/127\.0\.0\.1:\d+ does not answer: connect ECONNREFUSED/,
  );
});

test("a program that a kubeconfig file names for the credentials, and that fails, is an error that tells so", async () => {
  const server = await start(() => {});
  const config = JSON.parse(configText(server.url));
  config.users[0].user = { exec: { apiVersion: "client.authentication.k8s.io/v1", command: "no-such-login" } };
  writeFileSync(server.kubeconfig, JSON.stringify(config));
  const api = await server.open();
  await expect(api.list("Pod")).rejects.toThrow(
    `cannot log in to the API server at ${server.url} as user "alice" of context "work": `,
  );
});

test("an answer that is not JSON is that of something else, also in a watch, and another attempt may succeed", async () => {
  const server = await start((_, response) => response.end("<html>please log in</html>\n"));
  const api = await server.open();
  const message = `the API server at ${server.url} does not answer: its answer is not JSON`;
  const read = api.watch("Pod", {}, "7", signal)[Symbol.asyncIterator]();
  await expect(read.next()).rejects.toMatchObject({
    isTransient: true,
    message: `cannot watch pods in namespace "lab": ${message}`,
  });
  await expect(api.list("Pod")).rejects.toMatchObject({
    isTransient: true,
    message: `cannot list pods in namespace "lab": ${message}`,
  });
});

test("a permission to make what may be patched is named, although the API server does not name the verb", async () => {
  const server = await start((_, response) => refuse(response, 403, "Forbidden", 'services "x" is forbidden: '));
  const api = await server.open();
  await expect(api.apply({ apiVersion: "v1", kind: "Service", metadata: { name: "x" } })).rejects.toThrow(
    'user "alice" of context "work" may not create services in namespace "lab": services "x" is forbidden; "viceroy job rbac" prints ' +
      "the Role that it needs",
  );
});

test("long lists are read page by page", async () => {
  const server = await start((request, response) => {
    const next = new URL(request.url!, "http://x").searchParams.get("continue");
    const items = [{ metadata: { name: next ?? "first" } }];
    answerJson(response, {
      items,
      metadata: { resourceVersion: "7", ...(next === null ? { continue: "second" } : {}) },
    });
  });
  const api = await server.open();
  const { items, resourceVersion } = await api.list("Pod", { labelSelector: "viceroy/run=1" });
  expect(items.map(({ metadata }) => metadata.name)).toEqual(["first", "second"]);
  expect(resourceVersion).toBe("7");
  expect(server.asked).toEqual([
    "GET /api/v1/namespaces/lab/pods?labelSelector=viceroy%2Frun%3D1&limit=500",
    "GET /api/v1/namespaces/lab/pods?labelSelector=viceroy%2Frun%3D1&limit=500&continue=second",
  ]);
});

test("an object that does not exist is undefined, and one to delete was not there", async () => {
  const server = await start((_, response) => refuse(response, 404, "NotFound", 'pods "x" not found'));
  const api = await server.open();
  expect(await api.get("Pod", "x")).toBe(undefined);
  expect(await api.delete("Pod", "x")).toBe(false);
});

test("objects are applied by server-side apply, and deleted with what they own", async () => {
  const sent: string[] = [];
  const server = await start((request, response, body) => {
    sent.push(`${request.headers["content-type"]} ${body}`);
    answerJson(response, { metadata: { name: "x", uid: "1" } });
  });
  const api = await server.open();
  const object = { apiVersion: "batch/v1", kind: "Job", metadata: { name: "x" } };
  await api.apply(object, { dryRun: true });
  expect(await api.delete("Job", "x", { uid: "1" })).toBe(true);
  expect(server.asked).toEqual([
    "PATCH /apis/batch/v1/namespaces/lab/jobs/x?fieldManager=viceroy&force=true&dryRun=All",
    "DELETE /apis/batch/v1/namespaces/lab/jobs/x",
  ]);
  expect(sent).toEqual([
    `application/apply-patch+yaml ${JSON.stringify(object)}`,
    'application/json {"propagationPolicy":"Background","preconditions":{"uid":"1"}}',
  ]);
});

test("a watch yields events whose lines arrive in parts, and ends when it is aborted", async () => {
  const server = await start((_, response) => {
    const line = JSON.stringify({ type: "ADDED", object: { metadata: { name: "ä", resourceVersion: "8" } } });
    const bytes = Buffer.from(`${line}\n`);
    const middle = bytes.indexOf("ä") + 1;
    response.write(bytes.subarray(0, middle));
    setTimeout(() => response.write(bytes.subarray(middle)), 20);
  });
  const api = await server.open();
  const ending = new AbortController();
  const events: WatchEvent[] = [];
  for await (const event of api.watch("Pod", {}, "7", ending.signal)) {
    events.push(event);
    ending.abort();
  }
  expect(events.map(({ type, object }) => [type, object.metadata.name])).toEqual([["ADDED", "ä"]]);
  expect(server.asked[0]).toContain("watch=true&allowWatchBookmarks=true&resourceVersion=7");
});

test("a version that the API server does not know any more is the status 410, in an answer and in a watch", async () => {
  const object = { kind: "Status", code: 410, reason: "Expired", message: "too old resource version: 7 (9)" };
  let isLine = false;
  const server = await start((_, response) => {
    if (isLine) response.end(`${JSON.stringify({ type: "ERROR", object })}\n`);
    else answerJson(response, object, 410);
    isLine = true;
  });
  const api = await server.open();
  for (let attempt = 0; attempt < 2; attempt++) {
    const read = api.watch("Pod", {}, "7", signal)[Symbol.asyncIterator]();
    await expect(read.next()).rejects.toMatchObject({
      status: 410,
      message: expect.stringContaining("too old resource version"),
    });
  }
});

test("the log of a container is read line by line, the last one also without an end", async () => {
  const server = await start((_, response) => response.end("one\ntwo\nthree"));
  const api = await server.open();
  const lines: string[] = [];
  for await (const line of api.logs("pod-1", { container: "host", follow: true, signal })) lines.push(line);
  expect(lines).toEqual(["one", "two", "three"]);
  expect(server.asked).toEqual(["GET /api/v1/namespaces/lab/pods/pod-1/log?container=host&follow=true"]);
});
