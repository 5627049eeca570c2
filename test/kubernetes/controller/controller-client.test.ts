/** Tests of what programs say when the controller cannot be asked. */
import { expect, test } from "vitest";
import { clientOf, hostCertificate, scripted } from "./https-server.js";

const forever = new AbortController().signal;

test("a pod without a token, and a namespace without the ConfigMap of the controller, are told apart", async () => {
  const noToken = clientOf("https://127.0.0.1:9", {});
  await expect(noToken.client.ask("GET", "/", forever)).rejects.toMatchObject({
    message: `this pod has no token for the controller: ENOENT: no such file or directory, open '${noToken.access.folder}/token'`,
    status: 0,
    isTransient: true,
  });
  const noConfigMap = clientOf("https://127.0.0.1:9", { token: "t" });
  await expect(noConfigMap.client.ask("GET", "/", forever)).rejects.toMatchObject({
    message:
      'this namespace has no ConfigMap "viceroy-controller", which the controller publishes in each namespace that its rules name: ' +
      `ENOENT: no such file or directory, open '${noConfigMap.access.folder}/authority.pem'`,
    isTransient: true,
  });
});

test("a controller that does not run, or does not answer, can be asked again", async () => {
  const { client } = clientOf("https://127.0.0.1:9");
  await expect(client.ask("GET", "/", forever)).rejects.toMatchObject({
    message: "the controller at https://127.0.0.1:9 cannot be reached: connect ECONNREFUSED 127.0.0.1:9",
    isTransient: true,
  });
  const url = await scripted(() => {});
  for (const method of ["GET", "DELETE"] as const) {
    const { client: waiting } = clientOf(url, undefined, { get: 50, others: 50 });
    await expect(waiting.ask(method, "/", forever)).rejects.toMatchObject({
      message: `the controller at ${url} cannot be reached: it does not answer`,
      isTransient: true,
    });
  }
});

test("a server that is not the controller gets no token, even with a certificate of the same authority", async () => {
  let requests = 0;
  const url = await scripted(() => requests++, hostCertificate());
  await expect(clientOf(url).client.ask("GET", "/", forever)).rejects.toThrow(
    `the controller at ${url} cannot be reached: it is not the controller, but URI:viceroy://viceroy-controller/hosts/a/0`,
  );
  expect(requests).toBe(0);
});

test("the answer of a proxy is no answer of the controller", async () => {
  const answers: readonly [number, string][] = [
    [502, "<html>Bad Gateway</html>"],
    [404, '{"error":7}'],
    [200, "<html>"],
  ];
  let next = 0;
  const url = await scripted((_, response) => {
    const [status, text] = answers[next++]!;
    response.writeHead(status).end(text);
  });
  const { client } = clientOf(url);
  const ask = () => client.ask("GET", "/", forever);
  await expect(ask()).rejects.toMatchObject({
    message: `the controller at ${url} answers with status 502`,
    isTransient: true,
  });
  await expect(ask()).rejects.toMatchObject({
    message: `the controller at ${url} answers with status 404`,
    isTransient: false,
  });
  await expect(ask()).rejects.toMatchObject({
    message: expect.stringContaining(`the controller at ${url} answers with what is not JSON: Unexpected token`),
    isTransient: true,
  });
});

test("an answer that is too long is given up", async () => {
  const url = await scripted((_, response) => {
    response.on("error", () => {}).end(Buffer.alloc(16 * 1024 * 1024 + 1, " "));
  });
  await expect(clientOf(url).client.ask("GET", "/", forever)).rejects.toThrow(
    `the controller at ${url} cannot be reached: its answer has more than 16777216 bytes`,
  );
});

test("a request that is given up ends with the reason of its owner", async () => {
  const url = await scripted(() => {});
  const { client } = clientOf(url);
  const giving = new AbortController();
  const asked = client.ask("GET", "/", giving.signal);
  giving.abort(new Error("no longer needed"));
  await expect(asked).rejects.toThrow("no longer needed");
});
