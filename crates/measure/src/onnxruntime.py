"""Runs the weights of an E5S1 container with onnxruntime: the other side of the benchmark.

usage: onnxruntime.py CONTAINER INPUT.json OUTPUT.json FOLDER

The graphs that it builds stay in FOLDER as f32.onnx and int8.onnx, for other engines.

INPUT  {"threads": n, "repeats": n, "texts": [[token id, ...], ...], "batches": {name: [[id, ...], ...]}}
OUTPUT {"versions": {...}, "vectors": [[...], ...], "f32": {name: seconds}, "int8": {name: seconds}}
"""

import json
import os
import struct
import sys
import time

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper


def read_container(path):
    data = open(path, "rb").read()
    at = 0

    def take(layout):
        nonlocal at
        values = struct.unpack_from("<" + layout, data, at)
        at += struct.calcsize("<" + layout)
        return values

    magic, _version = take("4sI")
    assert magic == b"E5S1"
    hidden, layers, heads, feed, vocabulary, positions, _types = take("7i")
    (epsilon,) = take("f")
    take("i")
    n_pieces, *_special = take("5i")
    (blob,) = take("Q")
    at += 4 * (n_pieces + 1) + 4 * n_pieces + blob
    n_entries, _n_bytes = take("iI")
    for _ in range(n_entries):
        _code, n = take("IB")
        at += 4 * n
    tensors = {}
    for _ in range(take("i")[0]):
        (length,) = take("H")
        name = data[at : at + length].decode()
        at += length
        kind, elements, offset, n_bytes = take("BIQQ")
        raw = data[offset : offset + n_bytes]
        if kind == 0:
            value = np.frombuffer(raw, "<f4", elements).copy()
        else:
            blocks = np.frombuffer(raw, np.uint8).reshape(-1, 18)
            scale = blocks[:, :2].copy().view("<f2").astype(np.float32)
            low = (blocks[:, 2:] & 15).astype(np.float32)
            high = (blocks[:, 2:] >> 4).astype(np.float32)
            value = ((np.concatenate([low, high], axis=1) - 8) * scale).reshape(-1)[:elements]
        tensors[name] = value
    return dict(hidden=hidden, layers=layers, heads=heads, feed=feed, epsilon=epsilon), tensors


def build(config, tensors):
    hidden, heads, feed = config["hidden"], config["heads"], config["feed"]
    size = hidden // heads
    nodes, constants = [], []

    def constant(name, value):
        constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def node(kind, inputs, output, **attributes):
        nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    def linear(source, name, n_out, n_in, output):
        weights = constant(name + ".w", tensors[name + ".w"].reshape(n_out, n_in).T)
        product = node("MatMul", [source, weights], output + ".product")
        return node("Add", [product, constant(name + ".b", tensors[name + ".b"])], output)

    def norm(source, name, output):
        scale = constant(name + ".w", tensors[name + ".w"])
        shift = constant(name + ".b", tensors[name + ".b"])
        return node(
            "LayerNormalization", [source, scale, shift], output, axis=-1, epsilon=config["epsilon"]
        )

    word = constant("word", tensors["emb.word"].reshape(-1, hidden))
    position = constant("position", tensors["emb.pos"].reshape(-1, hidden))
    kind = constant("kind", tensors["emb.type"][:hidden])
    words = node("Gather", [word, "input_ids"], "words")
    places = node("Gather", [position, "position_ids"], "places")
    x = node("Add", [words, places], "summed")
    x = norm(node("Add", [x, kind], "summed.kind"), "emb.ln", "embedded")
    mask = node("Cast", ["attention_mask"], "mask.f32", to=TensorProto.FLOAT)
    mask = node("Unsqueeze", [mask, constant("axes", np.array([1, 2], np.int64))], "mask.4d")
    mask = node("Sub", [constant("one.f32", np.float32(1)), mask], "mask.away")
    mask = node("Mul", [mask, constant("far", np.float32(-10000))], "mask.bias")
    split = constant("split", np.array([0, 0, heads, size], np.int64))
    join = constant("join", np.array([0, 0, hidden], np.int64))
    scale = constant("scale", np.float32(size**-0.5))
    for i in range(config["layers"]):
        at = f"l{i}."
        parts = {}
        for part, order in (("q", [0, 2, 1, 3]), ("k", [0, 2, 3, 1]), ("v", [0, 2, 1, 3])):
            flat = linear(x, at + part, hidden, hidden, at + part + ".flat")
            cut = node("Reshape", [flat, split], at + part + ".cut")
            parts[part] = node("Transpose", [cut], at + part + ".heads", perm=order)
        scores = node("MatMul", [parts["q"], parts["k"]], at + "scores")
        scores = node("Mul", [scores, scale], at + "scaled")
        scores = node("Add", [scores, mask], at + "masked")
        weights = node("Softmax", [scores], at + "softmax", axis=-1)
        context = node("MatMul", [weights, parts["v"]], at + "context")
        context = node("Transpose", [context], at + "context.t", perm=[0, 2, 1, 3])
        context = node("Reshape", [context, join], at + "context.flat")
        out = linear(context, at + "ao", hidden, hidden, at + "ao.out")
        x = norm(node("Add", [out, x], at + "res1"), at + "aln", at + "x1")
        inner = linear(x, at + "fi", feed, hidden, at + "fi.out")
        inner = node("Gelu", [inner], at + "gelu")
        out = linear(inner, at + "fo", hidden, feed, at + "fo.out")
        x = norm(node("Add", [out, x], at + "res2"), at + "oln", at + "x2")
    nodes.append(helper.make_node("Identity", [x], ["last_hidden_state"]))
    ids = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"])
        for name in ("input_ids", "attention_mask")
    ]
    ids.append(helper.make_tensor_value_info("position_ids", TensorProto.INT64, ["length"]))
    out = helper.make_tensor_value_info(
        "last_hidden_state", TensorProto.FLOAT, ["batch", "length", hidden]
    )
    graph = helper.make_graph(nodes, "e5", ids, [out], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def session(path, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def embed(model, batch):
    length = max(map(len, batch))
    ids = np.ones((len(batch), length), np.int64)
    mask = np.zeros((len(batch), length), np.int64)
    for row, tokens in enumerate(batch):
        ids[row, : len(tokens)] = tokens
        mask[row, : len(tokens)] = 1
    places = np.arange(length, dtype=np.int64)
    fed = {"input_ids": ids, "attention_mask": mask, "position_ids": places}
    (states,) = model.run(None, fed)
    weights = mask[:, :, None].astype(np.float32)
    pooled = (states * weights).sum(1) / weights.sum(1)
    return pooled / np.linalg.norm(pooled, axis=1, keepdims=True)


def embed_sorted(model, texts, size=16):
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    vectors = [None] * len(texts)
    for start in range(0, len(order), size):
        part = order[start : start + size]
        for i, vector in zip(part, embed(model, [texts[i] for i in part])):
            vectors[i] = vector.tolist()
    return vectors


def measure(model, batches, repeats):
    seconds = {}
    for name, texts in batches.items():
        best = float("inf")
        for _ in range(repeats):
            start = time.perf_counter()
            embed_sorted(model, texts)
            best = min(best, time.perf_counter() - start)
        seconds[name] = best
    return seconds


def main():
    container, source, target, folder = sys.argv[1:]
    asked = json.load(open(source))
    config, tensors = read_container(container)
    path = os.path.join(folder, "f32.onnx")
    onnx.save(build(config, tensors), path)
    model = session(path, asked["threads"])
    answer = {
        "versions": {"onnxruntime": onnxruntime.__version__, "onnx": onnx.__version__},
        "vectors": [embed(model, [text])[0].tolist() for text in asked["texts"]],
        "f32": measure(model, asked["batches"], asked["repeats"]),
    }
    del model
    try:
        from onnxruntime.quantization import QuantType, quantize_dynamic

        small = os.path.join(folder, "int8.onnx")
        quantize_dynamic(
            path, small, weight_type=QuantType.QInt8, per_channel=True,
            op_types_to_quantize=["MatMul"],
        )
        model = session(small, asked["threads"])
        answer["int8"] = measure(model, asked["batches"], asked["repeats"])
        answer["int8_vectors"] = [embed(model, [text])[0].tolist() for text in asked["texts"]]
    except Exception as error:
        answer["int8_error"] = str(error)[:300]
    json.dump(answer, open(target, "w"))


main()
