/**
 * What may import what, type imports included. Layers are listed from the bottom up: a file imports its own layer and those
 * below it. `.ci/layers.mjs` checks it with dependency-cruiser.
 */
const layers = [
  ["runtime/wire", "runtime/shape"],
  ["runtime/link"],
  ["runtime/cast"],
  ["runtime/actor"],
  ["runtime/supervise"],
  ["runtime/proc"],
  ["runtime/host"],
  ["runtime/rdma"],
  ["runtime/codegen"],
  ["runtime/bundle"],
];

const pattern = (folders) => `^(${folders.join("|")})/`;

const upwards = layers.flatMap((siblings, level) => {
  const above = layers.slice(level + 1).flat();
  return siblings.map((layer) => ({
    name: `${layer} imports nothing above it`,
    comment: `Dependencies point downwards: ${layers.map((names) => names.map((name) => name.replace("runtime/", "")).join(", ")).join(" < ")}.`,
    from: { path: pattern([layer]) },
    to: { path: pattern([...siblings.filter((sibling) => sibling !== layer), ...above]) },
  }));
});

const rules = [
  ...upwards,
  {
    name: "no file imports itself through others",
    comment: "Move what both need into a file of its own below them.",
    from: { path: "^(compiler|generated|native|runtime|schemas|shared)/" },
    to: { circular: true },
  },
  {
    name: "runtime/ and compiler/ do not know each other",
    comment: "Both may import shared/ and native/.",
    from: { path: "^runtime/" },
    to: { path: "^(compiler|test)/" },
  },
  {
    name: "compiler/ and runtime/ do not know each other",
    comment: "Both may import shared/ and native/.",
    from: { path: "^compiler/" },
    to: { path: "^(runtime|test)/" },
  },
  {
    name: "shared/ imports nothing outside itself",
    comment: "It is what compiler/ and runtime/ must agree on.",
    from: { path: "^shared/" },
    to: { pathNot: "^shared/" },
  },
  {
    name: "wire rules stand on protobuf, not the other way",
    comment: "shared/protobuf, shared/names and shared/text know nothing of shared/evolution.",
    from: { path: "^shared/(protobuf|names|text)/" },
    to: { path: "^shared/evolution/" },
  },
  {
    name: "sources do not import the package by name",
    comment: "Generated code does; the sources of Viceroy import files.",
    from: { path: "^(compiler|runtime|native)/", pathNot: "^runtime/(tensor|rdma)/" },
    to: { path: "^(viceroy|dist)(/|$)" },
  },
  {
    name: "ts-morph stays behind its adapter",
    comment: "Only compiler/source/ts-morph/ imports ts-morph, so that another front end can take its place.",
    from: { path: "^(compiler|runtime|native|schemas|shared)/", pathNot: "^compiler/source/ts-morph/" },
    to: { path: "^(node_modules/)?(ts-morph|@ts-morph)(/|$)" },
  },
  {
    name: "nothing imports the bundle or the ABI but what is made for them",
    comment: "runtime/codegen/ is for generated code, and runtime/bundle/ puts everything together.",
    from: { path: "^runtime/", pathNot: "^runtime/(bundle|codegen|connect|sync|tasks|tensor)/" },
    to: { path: "^runtime/(bundle|codegen)/" },
  },
  {
    name: "the runtime never loads tensors",
    comment: "viceroy/tensor is a module of its own.",
    from: { path: "^runtime/", pathNot: "^runtime/tensor/" },
    to: { path: "^runtime/tensor/" },
  },
  {
    name: "tensors import of the runtime what users import",
    comment:
      "runtime/tensor/ is a module of its own: it imports runtime/index.ts, runtime/rdma/index.ts, the ABI and the addon's face.",
    from: { path: "^runtime/tensor/" },
    to: { path: "^runtime/", pathNot: "^runtime/(tensor|codegen|native)/|^runtime/(rdma/)?index\\.ts$" },
  },
  {
    name: "the runtime loads syncs when they are needed",
    comment:
      "runtime/sync/ is a module of its own. Its kernel has the parts of the runtime that it shares, and its error is the program's.",
    from: { path: "^runtime/", pathNot: "^runtime/(sync|bundle)/" },
    to: { path: "^runtime/sync/", pathNot: "^runtime/sync/sync-error\\.ts$" },
  },
  {
    name: "tasks import of the runtime what users import, and their kernel",
    comment:
      "runtime/tasks/ is a module of its own. runtime/tasks/kernel.ts has the parts of the runtime that it shares.",
    from: { path: "^runtime/tasks/", pathNot: "^runtime/tasks/kernel\\.ts$" },
    to: { path: "^runtime/", pathNot: "^runtime/(tasks|codegen)/|^runtime/(job/)?index\\.ts$" },
  },
  {
    name: "clients of the gateway load codecs and nothing else of the runtime",
    comment: "runtime/connect/ runs in browsers, where the bundle replaces the ABI with runtime/browser/.",
    from: { path: "^runtime/connect/" },
    to: { path: "^(runtime|native|schemas|generated)/", pathNot: "^runtime/(connect/|codegen/v1/index\\.ts$)" },
  },
  {
    name: "the browser's ABI contains codecs and descriptors",
    comment: "runtime/browser/ must not load what needs Node.js.",
    from: { path: "^runtime/browser/" },
    to: { path: "^runtime/", pathNot: "^runtime/(browser|wire)/" },
  },
  {
    name: "Cap'n Proto readers stand alone",
    comment: "Programs that only read messages load nothing else; shared/text is a part of their bundle.",
    from: { path: "^runtime/capnp/" },
    to: { pathNot: "^(runtime/capnp|shared/text)/" },
  },
  {
    name: "native/ is at the bottom",
    comment: "Both the compiler and the runtime stand on the faces of the addons.",
    from: { path: "^(native|runtime/native)/" },
    to: { path: "^(compiler|runtime)/", pathNot: "^runtime/native/" },
  },
];

module.exports = {
  forbidden: rules.map((rule) => ({ severity: "error", ...rule })),
  options: {
    tsPreCompilationDeps: true,
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^dist/" },
  },
};
