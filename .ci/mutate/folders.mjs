/**
 * The folders for mutation testing, each with the tests that are responsible for it: folders and files, where a `!`
 * excludes files. Tests that start processes are excluded, because they run the build and not the mutated sources. Slow
 * tests are excluded, because they would run again for each mutant that they reach.
 */
export const folders = {
  // Tests that count how many random changes break something need more cases than are tried for one mutant.
  "compiler/evolve": [
    "test/compiler/evolve",
    ...["accepted", "command", "document", "remembered-schema"].map((name) => `!test/compiler/evolve/${name}.test.ts`),
    "test/evolution/{harm,find-wire-differences}.test.ts",
  ],
  "compiler/lock": ["test/compiler/lock", "!test/compiler/lock/git-merge.test.ts"],
  "compiler/model": ["test/compiler/model"],
  // The code that is generated for schemas with every kind of type is tested by goldens.test.ts.
  generated: ["test/wire/control-plane.test.ts"],
  "runtime/actor": [
    "test/actor",
    "!test/actor/no-lost-call.test.ts",
    // The filter of stack frames recognizes the frames of the runtime by file name, and all sources are one file here.
    "!test/actor/call/caller-stack.test.ts",
    "test/cast/sender/memory-after-stop.test.ts",
    "test/cast/schema-differences.test.ts",
    "test/cast/procs-without-listener.test.ts",
    "test/cast/call-guarantees.test.ts",
    "test/cast/reduction.test.ts",
  ],
  // Tests of whole trees take seconds for each mutant and kill few additional ones. These tests replace the other parts
  // of a tree by recorders.
  "runtime/cast": [
    "test/cast/{sender,tree,receiver}",
    "test/cast/cast-router.test.ts",
    "!test/cast/sender/memory-after-stop.test.ts",
  ],
  "runtime/link": [
    "test/link/!(keep-alive).test.ts",
    "test/link/{frame,handshake,inbound,outbound}",
    "test/link/resumable/!(actors|cuts).test.ts",
    "test/link/transport",
    ...["unix/connect", "shared-memory/processes", "shared-memory/ring"].map(
      (name) => `!test/link/transport/${name}.test.ts`,
    ),
  ],
  "runtime/shape": ["test/shape"],
  "runtime/supervise": [
    "test/supervise/mesh-failure.test.ts",
    "test/supervise/mesh-failure-codec.test.ts",
    "test/supervise/restart-policy.test.ts",
    "test/supervise/supervisor.test.ts",
    "test/supervise/unhandled-faults.test.ts",
  ],
  "runtime/wire": [
    "test/wire",
    ...[
      "fuzz",
      "generated",
      "generated-protobuf",
      "control-plane",
      "**/random",
      "json/protobuf-es",
      "conformance/*",
      // The test loads a module again with another byte order, and all modules are one script here.
      "byte-order",
    ].map((name) => `!test/wire/${name}.test.ts`),
  ],
};
