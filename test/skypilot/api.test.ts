/** Tests of the client of SkyPilot against its API server, which has no infrastructure: everything but real machines. */
import { expect, test } from "vitest";
import type { LogLine } from "../../runtime/job/skypilot/api/log-line.js";
import { failure } from "./lab/failure.js";
import { openLab, useSkyPilot } from "./lab/skypilot-lab.js";

useSkyPilot();

const task = "name: crew\nresources:\n  cpus: 1+\nrun: echo hello\n";
const nobody = "no-such-cluster";

test("the API server tells its version and its release", async () => {
  const api = await (await openLab("health")).open();
  expect(await api.health()).toEqual({ api: 62, release: "0.14.1", user: undefined });
});

test("a valid task is accepted without any infrastructure", async () => {
  const api = await (await openLab("validate")).open();
  await api.validate(task);
});

test("what is wrong with a task is said in SkyPilot's words", async () => {
  const api = await (await openLab("validate-bad")).open();
  const misspelt = await failure(api.validate("resources:\n  cpux: 1\n"));
  expect(misspelt.message).toBe(
    "cannot validate a task of SkyPilot: SkyPilot says: Invalid resources YAML: Instead of 'cpux', did you mean 'cpus'? (InvalidSkyPilotConfigError)",
  );
  expect(misspelt.isTransient).toBe(false);
  const malformed = await failure(api.validate("name: [crew\n"));
  expect(malformed.message).toContain("cannot validate a task of SkyPilot: SkyPilot says: yaml error (ParserError): ");
  expect(malformed.kind).toBe("CloudError");
});

test("a launch without infrastructure fails in SkyPilot's words, after its progress was told", async () => {
  const api = await (await openLab("launch-nowhere")).open();
  const lines: LogLine[] = [];
  const id = await api.launch({ cluster: "crew", task, retryUntilUp: false });
  const error = await failure(api.requests.follow(id, 'launch cluster "crew"', { onLine: (line) => lines.push(line) }));
  expect(error.message).toBe(
    'cannot launch cluster "crew": SkyPilot says: Cloud access is not set up. Run: sky check (NoCloudAccessError)',
  );
  expect(lines).toContainEqual({ kind: "status", text: "Optimizing" });
});

test("a launch of a task that is not valid fails in SkyPilot's words", async () => {
  const api = await (await openLab("launch-bad")).open();
  const id = await api.launch({ cluster: "crew", task: "resources:\n  cpux: 1\n", retryUntilUp: false });
  expect((await failure(api.requests.follow(id, 'launch cluster "crew"'))).kind).toBe("InvalidSkyPilotConfigError");
});

test("a cluster that is not there is no error for its state and its end", async () => {
  const api = await (await openLab("no-cluster")).open();
  expect(await api.cluster(nobody, true)).toBeUndefined();
  await api.down(nobody);
  expect((await failure(api.stop(nobody))).message).toBe(
    `cannot stop cluster "${nobody}": SkyPilot says: Cluster '${nobody}' does not exist. (ClusterDoesNotExist)`,
  );
});

test("the clouds that can be used are listed, and the reasons for the others are told", async () => {
  const api = await (await openLab("check")).open();
  const lines: LogLine[] = [];
  expect(await api.check(["kubernetes"], { onLine: (line) => lines.push(line) })).toEqual({ default: [] });
  expect(lines).toContainEqual({
    kind: "text",
    text: "To enable a cloud, follow the hints above and rerun: sky check",
  });
});

test("a launch that is cancelled has ended for those who follow it, and is not listed any more", async () => {
  const api = await (await openLab("cancel")).open();
  const id = await api.launch({ cluster: "crew", task, retryUntilUp: true });
  expect(await api.requests.openOf("crew")).toEqual([{ id, name: "sky.launch" }]);
  await api.requests.cancel([id]);
  expect((await failure(api.requests.follow(id, 'launch cluster "crew"'))).message).toBe(
    'cannot launch cluster "crew": SkyPilot says: the request was cancelled (RequestCancelled)',
  );
  expect(await api.requests.openOf("crew")).toEqual([]);
});

test("requests that are not known are cancelled without an error", async () => {
  const api = await (await openLab("cancel-unknown")).open();
  await api.requests.cancel(["00000000-0000-0000-0000-000000000000"]);
});

test("a token that the API server does not accept is named with its source", async () => {
  const lab = await openLab("bad-token");
  const error = await failure((await lab.open("sky_expired")).health());
  expect(error.message).toBe(
    `cannot use SkyPilot: the SkyPilot API server at ${lab.url} does not accept the token of SKYPILOT_SERVICE_ACCOUNT_TOKEN: ` +
      `Service account authentication disabled; log in with "sky api login -e ${lab.url}", or set SKYPILOT_SERVICE_ACCOUNT_TOKEN`,
  );
  expect(error.status).toBe(401);
});

test("a request that ends with its API server is not waited for when the server is back", async () => {
  const lab = await openLab("restart");
  const api = await lab.open();
  const id = await api.launch({ cluster: "crew", task, retryUntilUp: true });
  const followed = failure(api.requests.follow(id, 'launch cluster "crew"', { onLine: () => {} }));
  await lab.restart();
  expect((await followed).message).toBe(
    `cannot launch cluster "crew": the SkyPilot API server at ${lab.url} does not know request ${id}: ` +
      "it was started again since the request began, which has ended with it",
  );
  expect(await api.requests.openOf("crew")).toEqual([]);
}, 180_000);
