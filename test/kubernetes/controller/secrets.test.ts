/** Tests of the Secrets in which the controller keeps what it must know after a restart. */
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import type { ApiObject, KubernetesApi } from "../../../runtime/job/kubernetes/api/kubernetes-api.js";
import { openAuthority } from "../../../runtime/job/kubernetes/controller/own-certificate.js";
import { restoreSaved } from "../../../runtime/job/kubernetes/controller/saved-provision.js";

const newFolder = () => path.join(mkdtempSync(path.join(tmpdir(), "vk-")), "own");

/** An API server with one Secret. */
function cluster(secret?: object) {
  let kept = secret;
  const api = {
    namespace: "viceroy-system",
    get: async () => kept,
    apply: async (object: object) => {
      kept = object;
    },
  } as unknown as KubernetesApi;
  return { api, kept: () => kept as { readonly data: Readonly<Record<string, string>> } };
}

test.each([undefined, {}, { data: {} }])(
  "the controller makes its authority once, whether its Secret is missing or has no data yet: %j",
  async (secret) => {
    const { api, kept } = cluster(secret);
    const made = await openAuthority(api, newFolder());
    expect(Object.keys(kept().data)).toHaveLength(2);
    const before = kept();
    expect((await openAuthority(api, newFolder())).certificate).toBe(made.certificate);
    expect(kept()).toBe(before);
  },
);

test("a Secret that holds no authority is an error that says what to do", async () => {
  const { api } = cluster({ data: { "authority.key": "bm90aGluZw==" } });
  await expect(openAuthority(api, newFolder())).rejects.toThrow(
    'cannot use the Secret "viceroy-controller" in namespace "viceroy-system"; delete its data to have another authority made',
  );
});

test("a Secret of a request that no controller has written is refused", () => {
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64");
  const restore = (data: object, folder = newFolder()) => {
    return restoreSaved({ metadata: { name: "viceroy-provision-1" }, data } as ApiObject, () => folder);
  };
  const saved = encode({ id: "1" });
  expect(() => restore({})).toThrow('cannot use the Secret "viceroy-provision-1": provision.json is not JSON');
  expect(() => restore({ "provision.json": saved })).toThrow(
    'cannot use the Secret "viceroy-provision-1": credentials.json is not JSON',
  );
  const folder = newFolder();
  const outside = { "provision.json": saved, "credentials.json": encode({ "../evil": "x" }) };
  expect(() => restore(outside, folder)).toThrow(
    'cannot use the Secret "viceroy-provision-1": ../evil is outside of its folder',
  );
  expect(existsSync(path.join(folder, "../evil"))).toBe(false);
});
