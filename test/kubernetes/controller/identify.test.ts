/** Tests of the proof of who asks the controller, with an API server that answers as the test says. */
import { expect, test } from "vitest";
import { Identification, type TokenCluster } from "../../../runtime/job/kubernetes/controller/identify.js";

const extra = {
  "authentication.kubernetes.io/pod-name": ["train-0"],
  "authentication.kubernetes.io/pod-uid": ["u1"],
};
const username = "system:serviceaccount:research:default";
const pod = { metadata: { name: "train-0", uid: "u1", labels: { "viceroy/job": "train" } } };

function identification(own: Partial<TokenCluster> = {}) {
  let now = 0;
  let reviews = 0;
  const cluster: TokenCluster = {
    reviewToken: async (token, audience) => {
      reviews++;
      return token === "good" && audience === "viceroy-controller" ? { username, extra } : undefined;
    },
    pod: async () => pod,
    ...own,
  };
  const identification = new Identification(cluster, () => now);
  return { identification, reviews: () => reviews, pass: (ms: number) => (now += ms) };
}

test("a token of a pod of a job tells who asks", async () => {
  const asker = { namespace: "research", serviceAccount: "default", pod: "train-0", uid: "u1", job: "train" };
  expect(await identification().identification.identify("Bearer good")).toEqual(asker);
});

test("an answer of the API server is used again for 20 s", async () => {
  const { identification: known, reviews, pass } = identification();
  await known.identify("Bearer good");
  await known.identify("Bearer good");
  expect(reviews()).toBe(1);
  pass(20_001);
  await known.identify("Bearer good");
  expect(reviews()).toBe(2);
});

test.each<[string, number, string | undefined, Partial<TokenCluster>]>([
  ["the request has no token of a service account", 401, undefined, {}],
  ["the request has no token of a service account", 401, "Basic abc", {}],
  ["the request has no token of a service account", 401, `Bearer ${"x".repeat(20_000)}`, {}],
  [
    'the API server does not accept the token for the audience "viceroy-controller": it has expired, or is for somebody else',
    401,
    "Bearer other",
    {},
  ],
  [
    'the token of "ann" is not bound to a pod; ask from a pod of a job',
    403,
    "Bearer good",
    { reviewToken: async () => ({ username: "ann", extra }) },
  ],
  [
    `the token of "${username}" is not bound to a pod; ask from a pod of a job`,
    403,
    "Bearer good",
    { reviewToken: async () => ({ username, extra: {} }) },
  ],
  ['the pod "train-0" in namespace "research" is gone', 403, "Bearer good", { pod: async () => undefined }],
  [
    'the pod "train-0" in namespace "research" is gone',
    403,
    "Bearer good",
    { pod: async () => ({ metadata: { ...pod.metadata, uid: "u2" } }) },
  ],
  [
    'the pod "train-0" in namespace "research" belongs to no job: it has no label viceroy/job',
    403,
    "Bearer good",
    { pod: async () => ({ metadata: { name: "train-0", uid: "u1" } }) },
  ],
])("%s (%i, %#)", async (message, status, header, own) => {
  await expect(identification(own).identification.identify(header)).rejects.toMatchObject({ message, status });
});

test("too many questions at the same time are refused, so that tokens of strangers do not burden the API server", async () => {
  const { identification: busy } = identification({ reviewToken: () => new Promise(() => {}) });
  for (let i = 0; i < 32; i++) void busy.identify(`Bearer ${i}`);
  await expect(busy.identify("Bearer more")).rejects.toMatchObject({
    status: 503,
    message: "the controller proves too many tokens at the same time; ask again",
  });
});
