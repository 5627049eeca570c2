/**
 * The folders under mutation testing, each with the tests that are responsible for it: folders and files, and behind a `!`
 * what is left out of them. Tests that start processes are of no use here, since those run what is built. Tests that take
 * seconds are left out, since they would be run again for each mutant that they reach.
 */
export const folders = {
  // Random changes that count how many of them broke something need more cases than are tried for a mutant.
  "compiler/evolve": [
    "test/compiler/evolve",
    ...["accepted", "command", "document", "remembered-schema"].map((name) => `!test/compiler/evolve/${name}.test.ts`),
    "test/evolution/{harm,find-wire-differences}.test.ts",
  ],
  "compiler/lock": ["test/compiler/lock", "!test/compiler/lock/git-merge.test.ts"],
  "compiler/model": ["test/compiler/model"],
  // What is generated for schemas with every kind of type has the same tests, as goldens.test.ts.
  generated: ["test/wire/control-plane.test.ts"],
  "runtime/actor": [
    "test/actor",
    "!test/actor/no-lost-call.test.ts",
    // What hides the frames of the runtime knows them by their files, and all are one file here.
    "!test/actor/call/caller-stack.test.ts",
    "test/cast/sender/memory-after-stop.test.ts",
    "test/cast/schema-differences.test.ts",
    "test/cast/procs-without-listener.test.ts",
    "test/cast/call-guarantees.test.ts",
    "test/cast/reduction.test.ts",
  ],
  // These record the other parts of a tree. Whole trees try each mutant for seconds, and find few more.
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
      // It loads a module again on a processor of its own, and all modules are one script here.
      "byte-order",
    ].map((name) => `!test/wire/${name}.test.ts`),
  ],
};
