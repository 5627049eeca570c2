/** Tests of how the API server of SkyPilot and the credentials for it are found. */
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { findAccess, type Surroundings } from "../../runtime/job/skypilot/api/access.js";

interface Files {
  /** `~/.sky/config.yaml` */
  readonly user?: string;
  /** `.sky.yaml` of the working directory */
  readonly project?: string;
  readonly cookies?: string;
  readonly userHash?: string;
}

function surroundings(files: Files = {}, env: Surroundings["env"] = {}): Surroundings {
  const home = mkdtempSync(path.join(tmpdir(), "sky-home-"));
  const cwd = mkdtempSync(path.join(tmpdir(), "sky-cwd-"));
  mkdirSync(path.join(home, ".sky"));
  const write = (file: string, text: string | undefined) => text !== undefined && writeFileSync(file, text);
  write(path.join(home, ".sky/config.yaml"), files.user);
  write(path.join(home, ".sky/cookies.txt"), files.cookies);
  write(path.join(home, ".sky/user_hash"), files.userHash);
  write(path.join(cwd, ".sky.yaml"), files.project);
  return { env, home, cwd, now: 1_000_000_000_000 };
}

const user = "api_server:\n  endpoint: https://sky.example/api/\n  service_account_token: sky_of_the_file\n";

test("without any configuration, the API server is the one that sky api start has started", async () => {
  expect(await findAccess(undefined, surroundings())).toEqual({
    server: "http://127.0.0.1:46580",
    headers: {},
    credentials: undefined,
    userId: undefined,
  });
});

test("the port of a local API server can be another one", async () => {
  const { server } = await findAccess(undefined, surroundings({}, { SKYPILOT_API_SERVER_LOCAL_PORT: "5000" }));
  expect(server).toBe("http://127.0.0.1:5000");
});

test("the configuration of the user names the server and the token", async () => {
  const given = surroundings({ user, userHash: "5ca1ab1e\n" });
  expect(await findAccess(undefined, given)).toEqual({
    server: "https://sky.example/api",
    headers: { authorization: "Bearer sky_of_the_file" },
    credentials: `the token of api_server.service_account_token in ${given.home}/.sky/config.yaml`,
    userId: "5ca1ab1e",
  });
});

test("the project overrides the user, the environment both, and the option everything", async () => {
  const files = { user, project: "api_server: { endpoint: http://project:1 }\n" };
  const env = { SKYPILOT_API_SERVER_ENDPOINT: "http://environment:2", SKYPILOT_SERVICE_ACCOUNT_TOKEN: "sky_env" };
  expect((await findAccess(undefined, surroundings(files))).server).toBe("http://project:1");
  const access = await findAccess(undefined, surroundings(files, env));
  expect(access.server).toBe("http://environment:2");
  expect(access.headers).toEqual({ authorization: "Bearer sky_env" });
  expect((await findAccess("http://option:3/", surroundings(files, env))).server).toBe("http://option:3");
});

test("a password in the URL becomes a header, and is in no error", async () => {
  const access = await findAccess("https://ada:s%20ecret@sky.example", surroundings());
  expect(access.server).toBe("https://sky.example");
  expect(access.headers).toEqual({ authorization: `Basic ${Buffer.from("ada:s ecret").toString("base64")}` });
  expect(access.credentials).toBe("the password in the option endpoint");
  await expect(findAccess("ftp://ada:secret@sky.example", surroundings())).rejects.toThrow(
    'cannot use the option endpoint as the API server of SkyPilot: expected a URL such as http://127.0.0.1:46580, got "ftp://ada:***@sky.example/"',
  );
});

test("something that is no URL is named with its source", async () => {
  await expect(
    findAccess(undefined, surroundings({}, { SKYPILOT_API_SERVER_ENDPOINT: "sky.example" })),
  ).rejects.toThrow(
    'cannot use SKYPILOT_API_SERVER_ENDPOINT as the API server of SkyPilot: expected a URL such as http://127.0.0.1:46580, got "sky.example"',
  );
});

test.each(["eyJhbGciOi", "sky_a\nb", "sky_"])(
  "a token that is none of SkyPilot is not sent, nor shown (%j)",
  async (token) => {
    const given = surroundings({}, { SKYPILOT_SERVICE_ACCOUNT_TOKEN: token });
    await expect(findAccess(undefined, given)).rejects.toThrow(
      'cannot use the token of SKYPILOT_SERVICE_ACCOUNT_TOKEN: a token of a service account of SkyPilot begins with "sky_" and has no spaces',
    );
  },
);

test("the files with the cookies of a login are read when there is no token", async () => {
  const cookies = [
    "# Netscape HTTP Cookie File",
    "sky.example\tFALSE\t/\tTRUE\t0\tsession\tabc",
    "#HttpOnly_.example\tTRUE\t/\tFALSE\t2000000000\tproxy\tdef",
    "sky.example\tFALSE\t/\tFALSE\t900000000\texpired\tx",
    "other.example\tFALSE\t/\tFALSE\t0\tother\tx",
    "sky.example\tFALSE\t/elsewhere\tFALSE\t0\tpath\tx",
    "sky.example\tFALSE\t/\tFALSE\t0\tbad\tx y\r\n",
    "sky.example",
  ].join("\n");
  const given = surroundings({ cookies });
  const access = await findAccess("https://sky.example", given);
  expect(access.headers).toEqual({ cookie: "session=abc; proxy=def" });
  expect(access.credentials).toBe(`the cookies of ${given.home}/.sky/cookies.txt`);
  // A cookie that is for encrypted connections only stays at home.
  expect((await findAccess("http://sky.example", given)).headers).toEqual({ cookie: "proxy=def" });
  expect((await findAccess("https://elsewhere.org", given)).headers).toEqual({});
});

test("a configuration that cannot be used is named", async () => {
  const broken = surroundings({ user: "api_server: [\n" });
  await expect(findAccess(undefined, broken)).rejects.toThrow(
    `cannot read the configuration of SkyPilot ${broken.home}/.sky/config.yaml: `,
  );
  const number = surroundings({ user: "api_server: { endpoint: 5 }\n" });
  await expect(findAccess(undefined, number)).rejects.toThrow(
    `cannot use api_server.endpoint in ${number.home}/.sky/config.yaml: expected text, got number`,
  );
  const missing = surroundings({}, { SKYPILOT_GLOBAL_CONFIG: "~/nothing.yaml" });
  await expect(findAccess(undefined, missing)).rejects.toThrow(
    `cannot find the API server of SkyPilot: ${missing.home}/nothing.yaml, which SKYPILOT_GLOBAL_CONFIG names, does not exist`,
  );
  const folder = surroundings({}, { SKYPILOT_GLOBAL_CONFIG: "~/.sky" });
  await expect(findAccess(undefined, folder)).rejects.toThrow(
    `cannot read ${folder.home}/.sky of SkyPilot: EISDIR: illegal operation on a directory, read`,
  );
  const large = surroundings({ user: "#".repeat(1_048_577) });
  await expect(findAccess(undefined, large)).rejects.toThrow(
    `cannot read ${large.home}/.sky/config.yaml of SkyPilot: it has more than 1048576 bytes`,
  );
});

test("a configuration that says nothing about the API server counts as none", async () => {
  const given = surroundings({ user: "kubernetes: {}\n", project: "", userHash: "not a hash" });
  const access = await findAccess(undefined, given);
  expect(access.server).toBe("http://127.0.0.1:46580");
  expect(access.userId).toBeUndefined();
});
