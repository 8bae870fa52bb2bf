# The service in a container. The process has no privileges and writes to /data only, so the root can be read-only:
#   docker build -t discreet .
#   docker run --rm -v ./clinic:/data --entrypoint discreet discreet ledger new --config /data/discreet.toml   # once
#   docker run --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges \
#       -p 127.0.0.1:8000:8000 -v ./clinic:/data discreet
FROM python:3.12-slim AS build
WORKDIR /build
COPY requirements.lock pyproject.toml README.md LICENSE ./
COPY src src
COPY docs/reference/errors.md docs/reference/errors-collection.md docs/reference/errors-ledger.md docs/reference/
RUN python -m venv /opt/discreet \
    && /opt/discreet/bin/pip install --no-cache-dir --require-hashes -r requirements.lock \
    && /opt/discreet/bin/pip install --no-cache-dir --no-deps --no-build-isolation .

FROM python:3.12-slim
COPY --from=build /opt/discreet /opt/discreet
RUN useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin discreet && mkdir /data && chown 10001 /data
ENV PATH=/opt/discreet/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
USER 10001
WORKDIR /data
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=2s CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/healthz', timeout=2)"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["discreet", "serve", "/data/discreet.toml", "--host", "0.0.0.0"]
