/** Tests of how a program finds a cluster, and of what it is told when there is none. */
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { checkedClientNode } from "../../../runtime/job/kubernetes/api/client-node.js";
import { type AccessOptions, openAccess } from "../../../runtime/job/kubernetes/api/cluster-access.js";
import { podAccess } from "../../../runtime/job/kubernetes/api/pod-access.js";
import { configText } from "./scripted-server.js";

const usual: AccessOptions = { kubeconfig: null, context: null };

function makePlaces(env: Record<string, string> = {}) {
  const home = mkdtempSync(path.join(tmpdir(), "home-"));
  return { env, home, serviceAccount: path.join(home, "service-account") };
}

test("a program without a kubeconfig file, outside of a pod, is told where it was looked for", async () => {
  const places = makePlaces();
  await expect(openAccess(usual, places)).rejects.toThrow(
    `cannot use Kubernetes: there is no kubeconfig file ${places.home}/.kube/config, KUBECONFIG names none, and this program ` +
      "does not run in a pod with a service account; log in to a cluster, or name a file with the option kubeconfig",
  );
});

test("the file in the home folder is used with its current context, as kubectl does", async () => {
  const places = makePlaces();
  mkdirSync(path.join(places.home, ".kube"));
  writeFileSync(path.join(places.home, ".kube", "config"), configText("https://10.0.0.1:6443/"));
  const access = await openAccess(usual, places);
  expect([access.server, access.who]).toEqual(["https://10.0.0.1:6443", 'user "alice" of context "work"']);
});

test("KUBECONFIG is used before the file in the home folder, and a context that is named before the current one", async () => {
  const places = makePlaces();
  const file = path.join(places.home, "other");
  writeFileSync(file, configText("https://10.0.0.2:6443"));
  const named = { ...places, env: { KUBECONFIG: file } };
  const access = await openAccess({ kubeconfig: null, context: "play" }, named);
  expect([access.server, access.who]).toEqual(["https://10.0.0.2:6443", 'user "alice" of context "play"']);
});

test("a context that the file does not have is an error that names those that it has", async () => {
  const places = makePlaces();
  const file = path.join(places.home, "config");
  writeFileSync(file, configText("https://10.0.0.2:6443"));
  await expect(openAccess({ kubeconfig: file, context: "prod" }, places)).rejects.toThrow(
    `cannot use Kubernetes: the kubeconfig file ${file} has no context "prod"; its contexts: "work", "play"`,
  );
});

test("a kubeconfig file that does not exist, or is malformed, is named", async () => {
  const places = makePlaces();
  const file = path.join(places.home, "config");
  await expect(openAccess({ kubeconfig: file, context: null }, places)).rejects.toThrow(
    `cannot use Kubernetes: cannot read the kubeconfig file ${file}: ENOENT`,
  );
  writeFileSync(file, "clusters: [");
  await expect(openAccess({ kubeconfig: file, context: null }, places)).rejects.toThrow(
    `cannot use Kubernetes: cannot read the kubeconfig file ${file}: `,
  );
});

/** Writes a kubeconfig file with one context. */
function writeConfig(folder: string, cluster: object, user: object): string {
  const file = path.join(folder, "config");
  const config = {
    clusters: [{ name: "here", cluster: { server: "https://10.0.0.1:6443", ...cluster } }],
    users: [{ name: "alice", user }],
    contexts: [{ name: "work", context: { cluster: "here", user: "alice" } }],
    "current-context": "work",
  };
  writeFileSync(file, JSON.stringify(config));
  return file;
}

const optionsOf = async (file: string) => (await openAccess({ kubeconfig: file, context: null })).requestOptions();
const base64 = (text: string) => Buffer.from(text).toString("base64");

test("certificates are read from the kubeconfig file, or from files beside it, and what is in it counts first", async () => {
  const { home } = makePlaces();
  for (const name of ["ca", "cert", "key"]) writeFileSync(path.join(home, `${name}.pem`), `${name} of a file`);
  const files = { "client-certificate": "cert.pem", "client-key": path.join(home, "key.pem") };
  const beside = writeConfig(home, { "certificate-authority": "ca.pem", "tls-server-name": "kubernetes" }, files);
  expect(await optionsOf(beside)).toEqual({
    ca: Buffer.from("ca of a file"),
    cert: Buffer.from("cert of a file"),
    key: Buffer.from("key of a file"),
    servername: "kubernetes",
  });
  const inside = { ...files, "client-certificate-data": base64("cert"), "client-key-data": base64("key") };
  const authority = { "certificate-authority": "ca.pem", "certificate-authority-data": base64("ca") };
  expect(await optionsOf(writeConfig(home, authority, inside))).toEqual({
    ca: Buffer.from("ca"),
    cert: Buffer.from("cert"),
    key: Buffer.from("key"),
  });
});

test("a token file is read for each request, and counts before a token; a password is sent as kubectl sends it", async () => {
  const { home } = makePlaces();
  const file = path.join(home, "token");
  writeFileSync(file, "first\n");
  const withFile = writeConfig(home, { "insecure-skip-tls-verify": true }, { tokenFile: "token", token: "other" });
  const access = await openAccess({ kubeconfig: withFile, context: null });
  expect(await access.requestOptions()).toEqual({
    rejectUnauthorized: false,
    headers: { authorization: "Bearer first" },
  });
  writeFileSync(file, "second");
  expect(await access.requestOptions()).toMatchObject({ headers: { authorization: "Bearer second" } });
  expect(await optionsOf(writeConfig(home, {}, { token: "only" }))).toEqual({
    headers: { authorization: "Bearer only" },
  });
  expect(await optionsOf(writeConfig(home, {}, { username: "alice", password: "secret" }))).toEqual({
    headers: { authorization: `Basic ${base64("alice:secret")}` },
  });
  expect(
    await optionsOf(writeConfig(home, {}, { tokenFile: "gone" })).catch((error: Error) => error.message),
  ).toContain("ENOENT");
});

test("a user who logs in by a program gets the credentials that the program prints", async () => {
  const { home } = makePlaces();
  const file = path.join(home, "credentials.json");
  const apiVersion = "client.authentication.k8s.io/v1";
  writeFileSync(file, JSON.stringify({ apiVersion, kind: "ExecCredential", status: { token: "printed" } }));
  const exec = { apiVersion, command: "cat", args: [file], interactiveMode: "Never" };
  expect(await optionsOf(writeConfig(home, {}, { exec }))).toMatchObject({
    headers: { Authorization: "Bearer printed" },
  });
});

test("credentials are read again from the same context, also when the file names another current one", async () => {
  const places = makePlaces();
  const file = path.join(places.home, "config");
  writeFileSync(file, configText("https://10.0.0.2:6443"));
  const access = await openAccess({ kubeconfig: file, context: null }, places);
  writeFileSync(
    file,
    configText("https://10.0.0.2:6443", "second").replace('"current-context":"work"', '"current-context":"play"'),
  );
  expect(await access.requestOptions()).toMatchObject({ headers: { authorization: "Bearer first" } });
  await access.reload();
  expect(await access.requestOptions()).toMatchObject({ headers: { authorization: "Bearer second" } });
  writeFileSync(file, configText("https://10.0.0.2:6443").replaceAll('"work"', '"gone"'));
  await expect(access.reload()).rejects.toThrow(`the kubeconfig file ${file} has no context "work"`);
});

test("a context without an API server, and a file that is no configuration, are named", async () => {
  const { home } = makePlaces();
  const file = writeConfig(home, { server: "10.0.0.1" }, {});
  await expect(optionsOf(file)).rejects.toThrow(
    `cannot use Kubernetes: the kubeconfig file ${file} names no API server for context "work" that could be reached`,
  );
  writeFileSync(file, "just text");
  await expect(optionsOf(file)).rejects.toThrow(
    `cannot use Kubernetes: cannot read the kubeconfig file ${file}: expected an object with clusters, users and contexts`,
  );
  writeFileSync(file, "contexts: []");
  await expect(optionsOf(file)).rejects.toThrow(
    `cannot use Kubernetes: the kubeconfig file ${file} has no current context; its contexts: none`,
  );
});

test("several files in KUBECONFIG are refused instead of reading the first one", async () => {
  const places = makePlaces({ KUBECONFIG: "/a:/b" });
  await expect(openAccess(usual, places)).rejects.toThrow(
    "cannot use Kubernetes: KUBECONFIG names 2 files, which Viceroy does not merge",
  );
});

test("a context is refused in a pod that has a service account only", async () => {
  const places = makePlaces({ KUBERNETES_SERVICE_HOST: "10.96.0.1" });
  mkdirSync(places.serviceAccount);
  writeFileSync(path.join(places.serviceAccount, "token"), "secret");
  await expect(openAccess({ kubeconfig: null, context: "work" }, places)).rejects.toThrow(
    'cannot use Kubernetes: the context "work" needs a kubeconfig file, and this pod has none',
  );
});

test("a package that is not installed, or of a version that jobs cannot use, is an error with the command that installs another one", async () => {
  const missing = Object.assign(new Error("Cannot find package '@kubernetes/client-node' imported from x"), {
    code: "ERR_MODULE_NOT_FOUND",
  });
  await expect(checkedClientNode(() => Promise.reject(missing), undefined)).rejects.toThrow(
    "cannot use Kubernetes: the package @kubernetes/client-node is not installed: npm install @kubernetes/client-node@1.4",
  );
  const never = () => Promise.reject(new Error("loaded"));
  for (const version of ["0.22.3", "1.3.0", "3.0.0", "21.0.0"]) {
    await expect(checkedClientNode(never, version)).rejects.toThrow(
      `cannot use Kubernetes: @kubernetes/client-node ${version} is installed, and jobs need 1.4 or a later version 1, or ` +
        "version 2: npm install @kubernetes/client-node@1.4",
    );
  }
  await expect(checkedClientNode(async () => ({ KubeConfig: class {} }), "1.10.2")).rejects.toThrow(
    "cannot use Kubernetes: the installed package @kubernetes/client-node has no KubeConfig that signs requests: npm install " +
      "@kubernetes/client-node@1.4",
  );
  const tooNew = new Error("createZstdDecompress is not a function");
  await expect(checkedClientNode(() => Promise.reject(tooNew), "2.0.1")).rejects.toThrow(
    `@kubernetes/client-node does not load on Node.js ${process.versions.node}: createZstdDecompress is not a function; ` +
      "its version 2 needs Node.js 22.19 or newer",
  );
});

test("a program in a pod uses its service account without any package, and reads the token for each request", async () => {
  const places = makePlaces({ KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "6443" });
  mkdirSync(places.serviceAccount);
  const write = (name: string, text: string) => writeFileSync(path.join(places.serviceAccount, name), text);
  write("token", "first\n");
  await expect(openAccess(usual, places)).rejects.toThrow(
    `cannot use Kubernetes: cannot read the service account of this pod: ENOENT: no such file or directory, open '${places.serviceAccount}/ca.crt'`,
  );
  write("ca.crt", "authority");
  const access = await openAccess(usual, places);
  expect([access.server, access.who]).toEqual(["https://[fd00::1]:6443", "the service account of this pod"]);
  expect(await access.requestOptions()).toEqual({ ca: "authority", headers: { authorization: "Bearer first" } });
  write("token", "second");
  expect(await access.requestOptions()).toMatchObject({ headers: { authorization: "Bearer second" } });
});

test("a pod whose environment names no API server says so", () => {
  expect(() => podAccess({})).toThrow(
    "cannot use Kubernetes: the environment of this pod names no API server that could be reached",
  );
});
