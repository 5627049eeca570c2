import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { delimiter } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { locateAddon } from "./native/addon-location.js";
import { LongestFirst } from "./test/longest-first.js";

/** Other steps of `npm run verify` run these test files. */
const elsewhere = (process.env["VICEROY_TESTS_ELSEWHERE"] ?? "").split(delimiter).filter((file) => file !== "");
const exclude = ["**/node_modules/**", "test/fixtures/**", ...elsewhere];

/** These promises about links, processes and their records hold with shared memory and without it. */
const linked = [
  "test/link/**/*.test.ts",
  "test/proc/**/*.test.ts",
  "test/tasks/{begun-tasks,nested-references,places/killed-borrower}.test.ts",
  "test/tasks/{meshes,objects}/**/*.test.ts",
];
/** These tests use neither of the two: they start no process, and connect nothing but parts of the own process. */
const unlinked = [
  "test/link/{clock,errors,relayed-location,routing-table,trace-context}.test.ts",
  "test/link/{frame,inbound,outbound,resumable}/**",
  "test/link/handshake/message.test.ts",
  "test/link/transport/{in-process,relay,thread,tls,websocket}/**",
  "test/link/transport/network-address.test.ts",
  "test/link/transport/socket/aborted-connect.test.ts",
  "test/link/tunnel/**",
  "test/proc/{checkpoint,remote}/**",
  "test/proc/launch/{inherited-options,line-forwarding,proc-identity,typescript-loader}.test.ts",
  "test/proc/mesh/{child-proc,mesh-checkpoints}.test.ts",
  "test/proc/platform/actor-registry.test.ts",
  "test/proc/proc-agents.test.ts",
];
/**
 * The slowest of the tests of both kinds. `npm run verify` runs them in shared memory, which is what users get, and `npm run verify:full` over
 * sockets, too. Over sockets, the tests of hosts, jobs, supervision and tasks start, resize, lose and end processes in each run.
 */
const onceInShort = [
  "test/proc/{crowd,deaths,ends,isolation,programs,repl}.test.ts",
  "test/proc/mesh/{replace-child,resize,resize-checkpoints}.test.ts",
  "test/tasks/{begun-tasks,nested-references,places/killed-borrower}.test.ts",
];
/** These tests simulate processes whose actors are generated: generated code must use the sources, as the simulator does. */
const simulated = ["test/tasks/simulation/**/*.test.ts"];
/**
 * These files share processes, and each gets fresh modules: starting a process of Vitest and loading the sources takes
 * longer than most of their tests. They use the sources only, start no process, and change nothing that is global.
 */
const together = [
  "test/actor/*.test.ts",
  "test/actor/{cell,delivery,mesh,port,reference}/*.test.ts",
  "test/actor/call/!(map).test.ts",
  "test/actor/call/map/*.test.ts",
  "test/actor/proc/!(drop-watch).test.ts",
  "test/actor/schema/!(translate-layout).test.ts",
  "test/browser/buffer.test.ts",
  "test/cast/!(processes).test.ts",
  "test/cast/{receiver,tree}/*.test.ts",
  "test/cast/sender/!(memory-after-stop).test.ts",
  "test/compiler/{actors,config,model,output,pipeline,protobuf}/*.test.ts",
  "test/compiler/cli/explain.test.ts",
  "test/compiler/evolve/!(accepted|command).test.ts",
  "test/compiler/lock/!(git-merge).test.ts",
  "test/compiler/source/!(plainness|promises).test.ts",
  "test/evolution/find-wire-differences.test.ts",
  "test/host/{attached/own-beats,publish/message-senders}.test.ts",
  "test/host/daemon/{host-gpus,output-queue,watching-processes}.test.ts",
  "test/job/{retry,ssh-findings,command/fold-ranks}.test.ts",
  "test/job/credentials/{enrolment,host-credentials}.test.ts",
  "test/kubernetes/batch/{command-end,followed-log}.test.ts",
  "test/kubernetes/controller/{identify,provisioned-provider,provisioned-state,rules,secrets}.test.ts",
  "test/kubernetes/image/dockerfile.test.ts",
  "test/kubernetes/manifest/{job-objects,print-yaml,template}.test.ts",
  "test/kubernetes/pods/{answering-pods,held-jobs,joined,pod-sources,pod-state,pod-trouble}.test.ts",
  "test/kubernetes/pods/{ready-hosts,replacement-delay}.test.ts",
  "test/kubernetes/size/{job-sizes,mesh-size,simulated-drivers}.test.ts",
  // What test/link/errors.test.ts expects of the garbage collector depends on the files before it.
  "test/link/{clock,link,relayed-location,routing-table,trace-context,written-frames}.test.ts",
  "test/link/{frame,inbound,outbound}/*.test.ts",
  "test/link/resumable/{accept,cuts,dial,pipe,relays,segment,strangers}.test.ts",
  "test/link/handshake/{handshake,message}.test.ts",
  "test/link/transport/{join-pipes,network-address,in-process/pipe,tls/credentials,tls/identity}.test.ts",
  "test/link/transport/{relay/pipe,relay/relayed-calls,socket/aborted-connect,websocket/url}.test.ts",
  "test/link/transport/shared-memory/{hostile,pipe,scripted-peer}.test.ts",
  "test/link/tunnel/{first-gateway,send-queue,tunnel}.test.ts",
  "test/package/rewrite-module.test.ts",
  "test/proc/checkpoint/{crc32,shared-state}.test.ts",
  "test/proc/launch/{inherited-options,line-forwarding,proc-identity}.test.ts",
  "test/proc/mesh/child-proc.test.ts",
  "test/proc/remote/{host-connection,hosted-location,silence-timer}.test.ts",
  "test/rdma/protocol.test.ts",
  "test/rdma/transport/stream/{invitation,stream}.test.ts",
  "test/rdma/transport/verbs/{messages,ports,recent-keys}.test.ts",
  "test/shape/*.test.ts",
  "test/shared/**/*.test.ts",
  "test/skypilot/{access,crash-pauses,host-lines,log-line}.test.ts",
  "test/supervise/{mesh-failure,restart-policy,supervisor,unhandled-faults}.test.ts",
  "test/sync/{store/plan-removal,transfer/plan-sources,tree/chunks,tree/follow-link}.test.ts",
  "test/tasks/{fifo,actors/actor-names,actors/place-actor,host/lease-queue,host/resources}.test.ts",
  "test/tensor/rendezvous/rendezvous.test.ts",
  "test/wire/{batch,choices,codec-error,codec-refusal,composed,descriptor,fingerprints}.test.ts",
  "test/wire/{generated-steps,string-heap,traced-codecs,wire-environment,writer}.test.ts",
  "test/wire/{conformance,json,protobuf}/*.test.ts",
];
/**
 * Most of the processor time of these tests is that of processes that start, which is less with newer versions of Node.js. So `npm run verify`
 * runs them over sockets with the newest version (VICEROY_TESTS=newest), and the others with its own (VICEROY_TESTS=others).
 */
const startsProcesses = [
  "test/{examples,host,monorepo,proc,skypilot,supervise,sync,tasks}/**/*.test.ts",
  // The other tests of jobs remain for the version that runs `verify`.
  "test/job/**/!(ssh-doctor|ssh-faults|ssh-forward|command-list|job-resize|slurm-states).test.ts",
  "test/kubernetes/job/{command,detach,provision,resize}.test.ts",
  "test/package/prepared-typescript.test.ts",
  "test/rdma/machine.test.ts",
];
const part = process.env["VICEROY_TESTS"];
const sources = [
  {
    find: /^viceroy\/codegen\/v1$/,
    replacement: fileURLToPath(new URL("runtime/codegen/v1/index.ts", import.meta.url)),
  },
];
/** Where everything is to be tested, a missing addon fails those tests. */
const hasMemory = process.env["VICEROY_PEERS"] === "required" || existsSync(locateAddon("rdma").file);
/** What the project `sockets` leaves to other projects, or to the other version of Node.js. */
const notOverSockets = [
  ...simulated,
  ...together,
  ...(part === "others" ? startsProcesses : []),
  ...(part !== undefined && hasMemory ? onceInShort : []),
];

// Unit tests import the sources. Tests that start processes import the built package by its own name ("viceroy"
// resolves to dist/ through the package's exports), so that what they try is what users get.
export default defineConfig({
  test: {
    exclude,
    // For what waits for ever: a machine that is busy with other things is slow for minutes, and nothing is wrong.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 300_000 } },
    pool: "forks",
    // Most of the time of most tests is waiting, for processes that start and for failures that are noticed: one test
    // file keeps half a processor busy.
    maxWorkers: availableParallelism() + 2,
    globalSetup: "test/temporary.ts",
    sequence: { sequencer: LongestFirst },
    server: { deps: { external: [/\/dist\//] } },
    projects: [
      {
        extends: true,
        test: {
          name: "sockets",
          include: part === "newest" ? startsProcesses : ["test/**/*.test.ts"],
          exclude: [...exclude, ...notOverSockets],
          env: { VICEROY_LINKS: "socket" },
        },
      },
      {
        extends: true,
        test: {
          name: "together",
          include: together,
          env: { VICEROY_LINKS: "socket" },
          isolate: false,
          setupFiles: "test/fresh-modules.ts",
        },
      },
      { extends: true, resolve: { alias: sources }, test: { name: "simulated", include: simulated } },
      ...(hasMemory
        ? [
            {
              extends: true as const,
              test: {
                name: "memory",
                include: linked,
                exclude: [...exclude, ...unlinked],
                env: { VICEROY_LINKS: "memory" },
              },
            },
          ]
        : []),
    ],
  },
});
