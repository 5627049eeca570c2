/** Tests of `viceroy job port` and `viceroy job state --watch`, which go on while the job runs. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parsePorts } from "../../runtime/job/command/port.js";
import { loadCrew } from "../proc/crew.js";
import { limitUnderLoad, until } from "../proc/until.js";
import { type JobPlace, startViceroyJob, viceroyJob } from "./batch-driver.js";
import { newCache } from "./job-program.js";

const place: JobPlace = { job: "process", cache: newCache() };

beforeAll(async () => {
  await loadCrew();
  expect((await viceroyJob(place, "apply")).code).toBe(0);
});
afterAll(() => viceroyJob(place, "kill"));

/** Starts a command that goes on, and collects what it prints. */
function start(...args: readonly string[]) {
  const started = startViceroyJob(place, ...args);
  let printed = "";
  started.child.stdout!.on("data", (part: string) => {
    printed += part;
  });
  return { ...started, printed: () => printed };
}

test("the port of a host is reachable at this machine until the command is ended", {
  timeout: limitUnderLoad(60_000, 240_000),
}, async () => {
  const echo = createServer((socket) => socket.pipe(socket)).listen(0, "127.0.0.1");
  await once(echo, "listening");
  const { port } = echo.address() as AddressInfo;
  const forwarding = start("port", "--rank", "1", `0:${port}`);
  await until(() => forwarding.printed().includes("\n"), limitUnderLoad(60_000, 240_000));
  const [, local] = new RegExp(
    `^127\\.0\\.0\\.1:(\\d+) leads to port ${port} of workers\\[1\\], at 127\\.0\\.0\\.1\\n$`,
  ).exec(forwarding.printed())!;
  for (const word of ["first", "second"]) {
    const socket = connect(Number(local), "127.0.0.1");
    socket.end(word);
    expect(await text(socket)).toBe(word);
  }
  echo.close();
  await once(echo, "close");
  const refused = connect(Number(local), "127.0.0.1");
  await once(refused.on("error", () => {}).resume(), "close");
  forwarding.child.kill("SIGINT");
  const { err } = await forwarding.ended;
  expect(err).toContain(`cannot connect to port ${port} of workers[1]: connect ECONNREFUSED 127.0.0.1:${port}\n`);
});

test("ports and ranks that there are not are refused", { timeout: limitUnderLoad(60_000, 240_000) }, async () => {
  expect([parsePorts("80"), parsePorts("0:65535")]).toEqual([
    { here: 80, there: 80 },
    { here: 0, there: 65_535 },
  ]);
  for (const wrong of ["", "0", "80:0", "65536", "a", "1:2:3", "-1"]) {
    expect(() => parsePorts(wrong)).toThrow(
      "cannot forward a port: expected a port of the host from 1 to 65535, or a port here and one there such as 9000:8080, " +
        `got "${wrong}"`,
    );
  }
  const { code, err } = await viceroyJob(place, "port", "--rank", "2", "80");
  expect({ code, err }).toEqual({
    code: 3,
    err: 'cannot forward a port of job "viceroy": expected a rank from 0 to 1, got 2\n',
  });
});

test("state --watch tells what happens to the job until it has ended", {
  timeout: limitUnderLoad(60_000, 240_000),
}, async () => {
  const watching = start("state", "--watch");
  await until(() => watching.printed().includes("running"), limitUnderLoad(60_000, 240_000));
  expect((await viceroyJob(place, "kill")).code).toBe(0);
  const { code, out } = await watching.ended;
  expect(code).toBe(0);
  expect(out).toMatch(/^job "viceroy" of provider process runs as /);
  expect(out.trim().split("\n").at(-1)).toMatch(/^\d{4}-\S+Z {2}ended: /);
});
