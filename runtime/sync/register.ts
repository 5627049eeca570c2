/** Registers the actor of code stores. Programs that do not sync do not load it. */
import { registerActors } from "../codegen/v1/index.js";
import { version } from "../index.js";

registerActors(import.meta.url, {
  package: "viceroy",
  version,
  schemas: {},
  actors: {
    "viceroy/runtime/sync/transfer/code-store-actor#HostCodeStore": {
      schema: "viceroy/schemas/sync#CodeStore",
      load: () => import("./transfer/code-store-actor.js").then((m) => m.HostCodeStore),
    },
  },
});
