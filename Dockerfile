# docker build -t graphfix . && docker run --rm -v "$PWD:/models" graphfix check model.onnx --target trt8
FROM python:3.12-slim
COPY . /source
RUN pip install --no-cache-dir /source && rm -rf /source && useradd --create-home --uid 1000 graphfix
USER 1000
WORKDIR /models
ENTRYPOINT ["graphfix"]
CMD ["--help"]
