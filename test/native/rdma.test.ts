import { describe } from "vitest";
import { hasAddon } from "../rdma/vaults.js";
import { testEndedThreads } from "./ended-threads.js";

describe("the addon for one-sided memory", () => testEndedThreads("rdma", hasAddon));
