/** Tests of the answer that a pod gives to the startup probe of its node. */
import { createServer } from "node:net";
import { expect, test } from "vitest";
import { answerStartupProbe } from "../../runtime/job/kubernetes/host/startup-answer.js";

/** Returns a port at which nothing listens. */
async function freePort(): Promise<number> {
  const server = createServer();
  const port = await new Promise<number>((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve((server.address() as { port: number }).port));
  });
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test("a node is told at once when the host listens, and until then each time that it does not", async () => {
  const port = await freePort();
  const complaints: string[] = [];
  const listening = answerStartupProbe("127.0.0.1", port, (reason) => complaints.push(reason));
  const ask = async () => (await fetch(`http://127.0.0.1:${port}/`)).status;
  expect(await ask()).toBe(503);
  const waits = ask();
  // The request has reached the server when this connection has.
  await new Promise((resolve) => setTimeout(resolve, 100));
  listening();
  expect(await waits).toBe(200);
  expect(await ask()).toBe(200);
  expect(complaints).toEqual([]);
});

test("a port that is taken is said", async () => {
  const taken = createServer();
  const port = await new Promise<number>((resolve) => {
    taken.listen(0, "127.0.0.1", () => resolve((taken.address() as { port: number }).port));
  });
  const reason = await new Promise((resolve) => answerStartupProbe("127.0.0.1", port, resolve));
  expect(reason).toContain("EADDRINUSE");
  taken.close();
});
