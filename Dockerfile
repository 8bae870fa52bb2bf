# The service in a container: data and ledger are mounted, the process is nobody.
#   docker build -t discreet . && docker run -p 8000:8000 -v ./clinic:/data discreet
FROM python:3.12-slim
WORKDIR /app
COPY requirements.lock pyproject.toml README.md LICENSE ./
COPY src src
RUN pip install --no-cache-dir --require-hashes -r requirements.lock \
    && pip install --no-cache-dir --no-deps --no-build-isolation . \
    && useradd --uid 10001 discreet && mkdir /data && chown discreet /data
USER discreet
VOLUME /data
EXPOSE 8000
HEALTHCHECK CMD ["python", "-c", "import httpx; httpx.get('http://127.0.0.1:8000/healthz').raise_for_status()"]
ENTRYPOINT ["discreet", "serve", "/data/discreet.toml", "--host", "0.0.0.0"]
