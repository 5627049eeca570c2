import { describe } from "vitest";
import { hasTensors } from "../tensor/addon.js";
import { testEndedThreads } from "./ended-threads.js";

describe("the addon for tensors", () => testEndedThreads("tensor", hasTensors));
