/**
 * Registers the actors of tasks. The generated registry contains those of tensors, with which it is bundled; programs with
 * tasks do not load tensors.
 */
import { registerActors } from "../codegen/v1/index.js";
import { version } from "../index.js";

registerActors(import.meta.url, {
  package: "viceroy",
  version,
  schemas: {},
  actors: {
    "viceroy/runtime/tasks/worker/pool-worker#PoolWorker": {
      schema: "viceroy/schemas/tasks#TaskWorker",
      // Tasks find their context by its class.
      load: () =>
        Promise.all([import("./worker/pool-worker.js"), import("./context/job-context.js")]).then(
          ([m]) => m.PoolWorker,
        ),
    },
    "viceroy/runtime/tasks/detached/detached-keeper#DetachedKeeper": {
      schema: "viceroy/schemas/tasks#DetachedActors",
      load: () => import("./detached/detached-keeper.js").then((m) => m.DetachedKeeper),
    },
    "viceroy/runtime/tasks/host/host-actor#HostManager": {
      schema: "viceroy/schemas/tasks#TaskHost",
      load: () => import("./host/host-actor.js").then((m) => m.HostManager),
    },
    "viceroy/runtime/tasks/host/host-store#HostStore": {
      schema: "viceroy/schemas/tasks#TaskStore",
      load: () => import("./host/host-store.js").then((m) => m.HostStore),
    },
    "viceroy/runtime/tasks/refs/owner-actor#ResultOwner": {
      schema: "viceroy/schemas/tasks#TaskOwner",
      load: () => import("./refs/owner-actor.js").then((m) => m.ResultOwner),
    },
    "viceroy/runtime/tasks/root/context-root#ContextRoot": {
      schema: "viceroy/schemas/tasks#TaskRoot",
      load: () => import("./root/context-root.js").then((m) => m.ContextRoot),
    },
  },
});
