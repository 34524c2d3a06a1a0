// Plays every clip of a .glb file with Babylon: node play_babylon.mjs FILE.glb OUT.json
// Writes what play_three.mjs does.
import { readFileSync, writeFileSync } from "node:fs";
import { NullEngine } from "@babylonjs/core/Engines/nullEngine.js";
import { ImportMeshAsync } from "@babylonjs/core/Loading/sceneLoader.js";
import { Scene } from "@babylonjs/core/scene.js";
import "@babylonjs/core/Animations/index.js";
import "@babylonjs/loaders/glTF/2.0/index.js";

const [file, output] = process.argv.slice(2);
const scene = new Scene(new NullEngine());
// As glTF is; else Babylon mirrors it.
scene.useRightHandedSystem = true;
const { animationGroups, skeletons } = await ImportMeshAsync(new Uint8Array(readFileSync(file)), scene, {
  pluginExtension: ".glb",
  pluginOptions: { gltf: { skipMaterials: true, targetFps: 60 } },
});
const nodes = skeletons.flatMap((skeleton) => skeleton.bones.map((bone) => bone.getTransformNode()));
const played = {};
for (const group of animationGroups) {
  group.start(false);
  group.pause();
  // Clips of the file need not begin at 0; Babylon counts frames of 60 a second from there.
  const duration = group.to / 60;
  const times = Array.from({ length: Math.floor(duration * 60 + 1e-6) + 1 }, (_, k) => k / 60);
  times.push(duration);
  const places = {};
  for (const time of times) {
    group.goToFrame(Math.min(time * 60, group.to));
    for (const node of nodes) {
      node.computeWorldMatrix(true);
      (places[node.name] ??= []).push(node.getAbsolutePosition().asArray());
    }
  }
  group.stop();
  played[group.name] = { duration, times, places };
}
writeFileSync(output, JSON.stringify(played));
